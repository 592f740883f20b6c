package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/dustin/go-humanize"
	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/almanac-cal/almanac/proof/must"
)

// checkParses parses arguments and environment variables as the program does, and returns the result. It fails the
// test if they are wrong. The text where says in errors where they come from.
func checkParses(t *testing.T, where string, args []string, env map[string]string) (c cli) {
	t.Helper()
	known := &environment{getenv: func(name string) string { return env[name] }}
	parser, err := kong.New(&c, kong.Resolvers(known), kong.PostBuild(known.readFlags), kong.Exit(func(int) {}),
		kong.Writers(io.Discard, io.Discard))
	must.Succeed(t, err)
	if _, err := parser.Parse(args); err != nil {
		t.Errorf("%s: %q: %v", where, args, err)
		return c
	}
	variables := map[string]bool{}
	for _, name := range known.settings {
		variables[name] = true
	}
	for name := range env {
		if strings.HasPrefix(name, "ALMANAC_") && !variables[name] {
			t.Errorf("%s: there is no setting %s", where, name)
		}
	}
	if args[0] == "serve" {
		if _, err := c.Serve.source(); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
	return c
}

func TestSystemdUnit(t *testing.T) {
	t.Parallel()
	unit := readRoot(t, "deploy/systemd/almanac.service")
	line := func(text, key string) []string {
		var out []string
		for _, m := range regexp.MustCompile(`(?m)^`+key+`=(.*)$`).FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
		return out
	}
	start := strings.Fields(line(unit, "ExecStart")[0])
	if len(start) != 2 {
		t.Errorf("%q: a flag cannot be changed in the file of settings, which has variables", start)
	}
	if strings.Index(unit, "\nEnvironmentFile=") < strings.LastIndex(unit, "\nEnvironment=") {
		t.Error("the file of settings does not come last, and so not first")
	}
	env := map[string]string{}
	for _, pair := range line(unit, "Environment") {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	c := checkParses(t, "almanac.service", start[1:], env)
	if c.Serve.DB == "" || c.Serve.MetricsListen == "" || c.Serve.LogFormat != "json" {
		t.Errorf("serves %+v", c.Serve)
	}
	for _, want := range []string{
		"Type=notify", "DynamicUser=yes", "NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet=",
		"PrivateTmp=yes", "SystemCallFilter=@system-service", "MemoryDenyWriteExecute=yes",
	} {
		if !strings.Contains(unit, "\n"+want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	stop, err := time.ParseDuration(line(unit, "TimeoutStopSec")[0] + "s")
	if err != nil || stop < c.Serve.RequestTimeout+c.Serve.DrainWait+10*time.Second {
		t.Errorf("stopped after %v, %v", stop, err)
	}
	socket := readRoot(t, "deploy/systemd/almanac.socket")
	if got := line(socket, "ListenStream"); len(got) != 1 || got[0] != "127.0.0.1:8080" {
		t.Errorf("the socket is %q", got)
	}
}

// container has the settings of the Kubernetes and Compose manifests that concern the program.
type container struct {
	Name string
	Args []string
	Env  []struct {
		Name, Value string
		ValueFrom   struct {
			Secret struct{ Name, Key string } `yaml:"secretKeyRef"`
		} `yaml:"valueFrom"`
	}
	Ports []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	SecurityContext struct {
		ReadOnly     bool  `yaml:"readOnlyRootFilesystem"`
		Escalation   *bool `yaml:"allowPrivilegeEscalation"`
		Capabilities struct{ Drop []string }
	} `yaml:"securityContext"`
	Startup   probe `yaml:"startupProbe"`
	Liveness  probe `yaml:"livenessProbe"`
	Readiness probe `yaml:"readinessProbe"`
	Resources struct{ Limits map[string]string }
}

type probe struct {
	Get struct{ Path, Port string } `yaml:"httpGet"`
}

func (c container) env() map[string]string {
	out := map[string]string{}
	for _, e := range c.Env {
		out[e.Name] = e.Value
		if e.ValueFrom.Secret.Key != "" {
			out[e.Name] = "mysql://user:password@host:3306/name"
		}
	}
	return out
}

// bytesOf parses a size, such as 512Mi, as written in a Kubernetes manifest or a flag. It returns bytes.
func bytesOf(t *testing.T, size string) uint64 {
	t.Helper()
	n, err := humanize.ParseBytes(size)
	if err != nil {
		t.Error(err)
	}
	return n
}

// kubernetesManifest is a document of the manifests of Kubernetes.
type kubernetesManifest struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct {
		Name     string
		Generate string `yaml:"generateName"`
	}
	Spec struct {
		Template struct {
			Metadata struct{ Annotations map[string]string }
			Spec     struct {
				Grace   int   `yaml:"terminationGracePeriodSeconds"`
				Links   *bool `yaml:"enableServiceLinks"`
				Context struct {
					NonRoot bool `yaml:"runAsNonRoot"`
				} `yaml:"securityContext"`
				Init       []container `yaml:"initContainers"`
				Containers []container
				Volumes    []struct {
					EmptyDir struct {
						Size string `yaml:"sizeLimit"`
					} `yaml:"emptyDir"`
				}
			}
		}
	}
}

// kubernetesManifests reads the documents of all manifests.
func kubernetesManifests(t *testing.T) (all []kubernetesManifest) {
	t.Helper()
	var manifests []string
	for _, name := range []string{"migrate", "almanac", "migrate-data", "clean-images"} {
		manifests = append(manifests, readRoot(t, "deploy/kubernetes/"+name+".yaml"))
	}
	dec := yaml.NewDecoder(strings.NewReader(strings.Join(manifests, "\n---\n")))
	for {
		var doc kubernetesManifest
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return all
		}
		must.Succeed(t, err)
		all = append(all, doc)
	}
}

// checkPod checks settings that every pod must have: it runs as another user than root, and without variables that
// look like settings.
func (doc *kubernetesManifest) checkPod(t *testing.T) {
	pod := doc.Spec.Template.Spec
	if !pod.Context.NonRoot {
		t.Errorf("%s runs as root", doc.Kind)
	}
	if pod.Links == nil || *pod.Links {
		t.Errorf("%s has variables that look like settings", doc.Kind)
	}
}

// checkServing checks the memory, the ports, the probes and the grace period of a container that serves.
func (doc *kubernetesManifest) checkServing(t *testing.T, c container, serve serveCmd) {
	pod := doc.Spec.Template.Spec
	// About 150 MiB are for the program and its index.
	needs := uint64(150 << 20)
	for _, size := range []string{serve.CacheSize, serve.MaxSending, serve.MaxReceiving, serve.MaxDecoding} {
		needs += bytesOf(t, size)
	}
	has := bytesOf(t, c.Resources.Limits["memory"])
	for _, v := range pod.Volumes {
		if v.EmptyDir.Size != "" { // in memory
			has -= bytesOf(t, v.EmptyDir.Size)
		}
	}
	if most := bytesOf(t, c.env()["GOMEMLIMIT"]); needs > most || most > has {
		t.Errorf("needs %d bytes, collects from %d on, and has %d", needs, most, has)
	}
	ports := map[string]int{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}
	private := strings.HasSuffix(serve.MetricsListen, ":9090")
	if ports["http"] != 8080 || ports["metrics"] != 9090 || !private || !strings.HasSuffix(serve.Listen, ":8080") {
		t.Errorf("ports %v, listens on %s and %s", ports, serve.Listen, serve.MetricsListen)
	}
	if doc.Spec.Template.Metadata.Annotations["prometheus.io/port"] != "9090" {
		t.Error("Prometheus is sent elsewhere")
	}
	for want, got := range map[string][]probe{"/healthz": {c.Startup, c.Liveness}, "/readyz": {c.Readiness}} {
		for _, p := range got {
			if p.Get.Path != want || ports[p.Get.Port] == 0 {
				t.Errorf("probe %+v, want %s", p, want)
			}
		}
	}
	if stop := serve.DrainWait + serve.RequestTimeout + 10*time.Second; time.Duration(pod.Grace)*time.Second < stop {
		t.Errorf("%d s to stop, needs %v", pod.Grace, stop)
	}
}

func TestKubernetesManifests(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	secrets := map[string]string{} // by command
	var order []string             // what is done to the database, pods that serve included
	for _, doc := range kubernetesManifests(t) {
		kinds[doc.Kind]++
		if doc.APIVersion == "" || doc.Metadata.Name == "" && doc.Metadata.Generate == "" {
			t.Errorf("%s %q: no version or name", doc.Kind, doc.Metadata.Name)
		}
		if doc.Kind != "Deployment" && doc.Kind != "Job" {
			continue
		}
		doc.checkPod(t)
		pod := doc.Spec.Template.Spec
		for _, c := range append(pod.Init, pod.Containers...) {
			s := c.SecurityContext
			if !s.ReadOnly || s.Escalation == nil || *s.Escalation || len(s.Capabilities.Drop) != 1 || c.Resources.Limits["memory"] == "" {
				t.Errorf("%s may do too much: %+v", c.Name, c)
			}
			parsed := checkParses(t, c.Name, c.Args, c.env())
			for _, e := range c.Env {
				if e.Name == "ALMANAC_DB" {
					secrets[strings.Join(c.Args[:min(2, len(c.Args))], " ")] = e.ValueFrom.Secret.Name
				}
			}
			if c.Args[0] != "serve" {
				order = append(order, strings.Join(c.Args, " "))
				continue
			}
			order = append(order, "serve")
			doc.checkServing(t, c, parsed.Serve)
		}
	}
	// Rows are brought up to date when no program of the version before serves.
	if diff := cmp.Diff([]string{"migrate apply --no-data", "serve", "migrate data", "images clean --max-decoding=256MiB"}, order); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Pods that serve have no user that may drop a table.
	wantSecrets := map[string]string{
		"migrate apply": "almanac-migrate", "serve --listen=0.0.0.0:8080": "almanac", "migrate data": "almanac-migrate",
		"images clean": "almanac",
	}
	if diff := cmp.Diff(wantSecrets, secrets); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	for kind, want := range map[string]int{
		"Deployment": 1, "Job": 3, "Service": 1, "ServiceAccount": 1, "PodDisruptionBudget": 1, "PersistentVolumeClaim": 1,
	} {
		if kinds[kind] != want {
			t.Errorf("%d of %s", kinds[kind], kind)
		}
	}
	for secret, user := range map[string]string{"almanac-migrate": "almanac_migrate", "almanac": "almanac_serve"} {
		made := "secret generic " + secret + " --from-literal=db='mysql://" + user + ":PASSWORD@"
		if !strings.Contains(readRoot(t, "deploy/kubernetes/almanac.yaml"), made) {
			t.Errorf("no %q", made)
		}
	}
}

func TestCompose(t *testing.T) {
	t.Parallel()
	var file struct {
		Services map[string]struct {
			Image       string
			Command     []string
			Environment map[string]string
			Volumes     []string
			DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
			ReadOnly    bool                                  `yaml:"read_only"`
			CapDrop     []string                              `yaml:"cap_drop"`
		}
	}
	must.Succeed(t, yaml.Unmarshal([]byte(readRoot(t, "compose.yaml")), &file))
	version, ok := strings.CutPrefix(file.Services["mysql"].Image, "mysql:")
	if tested := "| MySQL " + version + " | all tests"; !ok || !strings.Contains(readRoot(t, "docs/dba.md"), tested) {
		t.Errorf("MySQL %s is not what is tested", version)
	}
	if !strings.Contains(readRoot(t, "README.md"), "starts it on MySQL "+version+",") {
		t.Error("the README names another version of MySQL")
	}
	if !slices.Contains(file.Services["mysql"].Volumes, "./deploy/mysql/users.sh:/docker-entrypoint-initdb.d/users.sh:ro") {
		t.Error("MySQL does not make the users")
	}
	// ${NAME:-default} is the default here.
	settings := func(service string) map[string]string {
		env := map[string]string{}
		for name, value := range file.Services[service].Environment {
			env[name] = regexp.MustCompile(`\$\{\w+:-([^}]*)\}`).ReplaceAllString(value, "$1")
		}
		return env
	}
	passwords := settings("mysql")
	for service, want := range map[string]struct{ user, password string }{
		"migrate": {"almanac_migrate", passwords["ALMANAC_MIGRATE_PASSWORD"]},
		"almanac": {"almanac_serve", passwords["ALMANAC_DB_PASSWORD"]},
	} {
		s := file.Services[service]
		if !s.ReadOnly || len(s.CapDrop) != 1 {
			t.Errorf("%s may do too much: %+v", service, s)
		}
		args := s.Command
		if len(args) == 0 {
			args = []string{"serve"}
		}
		env := settings(service)
		checkParses(t, "compose.yaml, "+service, args, env)
		if url := "mysql://" + want.user + ":" + want.password + "@mysql:3306/almanac"; want.password == "" || env["ALMANAC_DB"] != url {
			t.Errorf("%s has the database %s, want %s", service, env["ALMANAC_DB"], url)
		}
	}
	almanac := file.Services["almanac"]
	if almanac.Environment["ALMANAC_MIGRATE"] != "" || almanac.DependsOn["migrate"].Condition != "service_completed_successfully" {
		t.Errorf("what serves migrates, or does not wait for what does: %+v", almanac)
	}

	docker := readRoot(t, "Dockerfile")
	if !strings.Contains(docker, "nonroot") || !strings.Contains(docker, `ENTRYPOINT ["/usr/local/bin/almanac"]`) {
		t.Error("the image is not that of a program without rights")
	}
	env := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^ENV (\w+)=(.*)$`).FindAllStringSubmatch(docker, -1) {
		env[m[1]] = m[2]
	}
	checkParses(t, "Dockerfile", []string{"serve"}, env)
}

func readRoot(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", name))
	must.Succeed(t, err)
	return string(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
}
