package apitest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// RecordVariable names the environment variable with the file to which tests append replies, as lines of JSON.
// Another validator compares these with the interface description. If it is empty, nothing is recorded.
const RecordVariable = "ALMANAC_TEST_RECORD"

// recordedShapes contains the operation, status, media type and shape of each recorded reply, as keys.
var recordedShapes sync.Map

// recordReply appends a reply to the file that RecordVariable names, if any. It skips replies with the same
// operation, status, media type and shape as an earlier one of the process.
func recordReply(operation, status, mediaType string, body any) (err error) {
	file := os.Getenv(RecordVariable)
	if file == "" {
		return nil
	}
	key := strings.Join([]string{operation, status, mediaType, strings.Join(shapeOf(body), "\n")}, "\n")
	if _, recorded := recordedShapes.LoadOrStore(key, nil); recorded {
		return nil
	}
	line, err := json.Marshal(map[string]any{"operation": operation, "status": status, "type": mediaType, "body": body})
	if err != nil {
		return err
	}
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = out.Write(append(line, '\n')) // one write, so that processes do not mix lines
	return err
}

// shapeOf returns the sorted paths of all values within a JSON value, each with its type. All items of a list have
// the same path.
func shapeOf(value any) []string {
	var paths []string
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			paths = append(paths, path+" object")
			for name, one := range v {
				walk(path+"."+name, one)
			}
		case []any:
			paths = append(paths, path+" array")
			for _, one := range v {
				walk(path+"[]", one)
			}
		default:
			paths = append(paths, fmt.Sprintf("%s %T", path, v))
		}
	}
	walk("", value)
	slices.Sort(paths)
	return slices.Compact(paths)
}
