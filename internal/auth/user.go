package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/ent/user"
)

// maxName is the longest name of a user or token, in bytes.
const maxName = 255

// ErrLogin, ErrLoginTaken, ErrRole, ErrName and ErrNoUser are the errors for invalid users and tokens.
var (
	ErrLogin      = errors.New("login must be 1 to 100 of the characters a-z 0-9 . _ @ + -")
	ErrLoginTaken = errors.New("login is taken")
	ErrRole       = errors.New("unknown role")
	ErrName       = errors.New("name must be UTF-8 of at most 255 bytes")
	ErrNoUser     = errors.New("no such user")
)

// ErrLastAdministrator is returned by KeepAdministrator for the only active administrator.
var ErrLastAdministrator = errors.New("is the only administrator who is not disabled")

// AddUser creates a user; db may be a transaction. The login is stored in lower case. An empty password means
// that the user has none and can use tokens only. Times are stored in UTC, in whole seconds. Errors are
// ErrLogin, ErrLoginTaken, ErrName, ErrRole and ErrPassword.
func AddUser(ctx context.Context, db *ent.Client, now time.Time, login, name string, role calendar.Role,
	password string,
) (*ent.User, error) {
	normal, ok := normalLogin(login)
	if !ok {
		return nil, fmt.Errorf("user %q: %w", login, ErrLogin)
	}
	if !role.Known() {
		return nil, fmt.Errorf("user %s: role %q: %w", normal, role, ErrRole)
	}
	name, err := properName(name)
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", normal, err)
	}
	hash, err := optionalHash(password)
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", normal, err)
	}
	u, err := db.User.Create().SetLogin(normal).SetName(name).SetRole(role).SetNillablePasswordHash(hash).
		SetCreatedAt(databaseTime(now)).Save(ctx)
	if ent.IsConstraintError(err) {
		return nil, fmt.Errorf("user %s: %w", normal, ErrLoginTaken)
	}
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", normal, err)
	}
	return u, nil
}

// FindUser returns the user with the login, ignoring case. It returns ErrNoUser if there is none.
func FindUser(ctx context.Context, db *ent.Client, login string) (*ent.User, error) {
	normal, ok := normalLogin(login)
	if !ok {
		return nil, fmt.Errorf("user %q: %w", login, ErrNoUser)
	}
	u, err := db.User.Query().Where(user.Login(normal)).Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("user %s: %w", normal, unknownUser(err))
	}
	return u, nil
}

// ListUsers returns all users, including disabled ones, sorted by login.
func ListUsers(ctx context.Context, db *ent.Client) ([]*ent.User, error) {
	us, err := db.User.Query().Order(user.ByLogin()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("users: %w", err)
	}
	return us, nil
}

// SetPassword replaces a user's password; "" removes it. Running processes refuse the old one within seconds. Tokens
// stay valid. Errors are ErrPassword and ErrNoUser.
func SetPassword(ctx context.Context, db *ent.Client, userID int64, password string) error {
	hash, err := optionalHash(password)
	if err != nil {
		return fmt.Errorf("user %d: %w", userID, err)
	}
	change := db.User.UpdateOneID(userID)
	if hash == nil {
		change.ClearPasswordHash()
	} else {
		change.SetPasswordHash(*hash)
	}
	return saveUser(ctx, userID, change)
}

// SetRole stores a user's new role. Running processes apply it within seconds. Errors are ErrRole and
// ErrNoUser.
func SetRole(ctx context.Context, db *ent.Client, userID int64, role calendar.Role) error {
	if !role.Known() {
		return fmt.Errorf("user %d: role %q: %w", userID, role, ErrRole)
	}
	return saveUser(ctx, userID, db.User.UpdateOneID(userID).SetRole(role))
}

// SetDisabled makes a user's password and tokens invalid if disabled is true, and valid again otherwise.
// Disabling twice does not change the time of disabling. The error is ErrNoUser.
func SetDisabled(ctx context.Context, db *ent.Client, now time.Time, userID int64, disabled bool) error {
	u, err := db.User.Get(ctx, userID)
	if err != nil {
		return fmt.Errorf("user %d: %w", userID, unknownUser(err))
	}
	switch {
	case disabled == (u.DisabledAt != nil):
		return nil
	case disabled:
		return saveUser(ctx, userID, db.User.UpdateOneID(userID).SetDisabledAt(databaseTime(now)))
	}
	return saveUser(ctx, userID, db.User.UpdateOneID(userID).ClearDisabledAt())
}

// RemoveUser deletes a user with their tokens. Their records stay, without an author. Running processes refuse
// their credentials within seconds. The error is ErrNoUser.
func RemoveUser(ctx context.Context, db *ent.Client, userID int64) error {
	// Foreign keys delete the tokens and clear the authors.
	if err := db.User.DeleteOneID(userID).Exec(ctx); err != nil {
		return fmt.Errorf("user %d: %w", userID, unknownUser(err))
	}
	return nil
}

// KeepAdministrator returns ErrLastAdministrator if the user is the only active administrator. Concurrent calls wait
// until the transaction of db ends, so that two administrators cannot remove each other.
func KeepAdministrator(ctx context.Context, db *ent.Client, userID int64) error {
	admins, err := db.User.Query().Where(user.RoleEQ(calendar.Administrator), user.DisabledAtIsNil()).
		Order(user.ByID()).Modify(forUpdate).All(ctx)
	if err != nil {
		return fmt.Errorf("administrators: %w", err)
	}
	if len(admins) == 1 && admins[0].ID == userID {
		return fmt.Errorf("user %s: %w", admins[0].Login, ErrLastAdministrator)
	}
	return nil
}

// forUpdate locks the selected rows. SQLite needs no lock, because it has one writer at a time.
func forUpdate(s *sql.Selector) {
	if s.Dialect() != dialect.SQLite {
		s.ForUpdate()
	}
}

func saveUser(ctx context.Context, userID int64, change *ent.UserUpdateOne) error {
	if err := change.Exec(ctx); err != nil {
		return fmt.Errorf("user %d: %w", userID, unknownUser(err))
	}
	return nil
}

func unknownUser(err error) error {
	if ent.IsNotFound(err) {
		return ErrNoUser
	}
	return err
}

// normalLogin returns the login in lower case, or false if it is not valid. Only ASCII is allowed, because
// database engines fold other letters differently.
func normalLogin(text string) (string, bool) {
	if text == "" || len(text) > 100 {
		return "", false
	}
	b := []byte(text)
	for i, c := range b {
		switch {
		case 'A' <= c && c <= 'Z':
			b[i] = c + 'a' - 'A'
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', strings.IndexByte("._@+-", c) >= 0:
		default:
			return "", false
		}
	}
	return string(b), true
}

// properName returns a display name without surrounding white space, or ErrName.
func properName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if len(name) > maxName || !utf8.ValidString(name) {
		return "", ErrName
	}
	return name, nil
}

// optionalHash returns the hash of a password. "" gives nil.
func optionalHash(password string) (*string, error) {
	if password == "" {
		return nil, nil
	}
	hash, err := hashPassword(password)
	if err != nil {
		return nil, err
	}
	return &hash, nil
}

// databaseTime returns an instant in the precision of the database, which is whole seconds. MySQL would round to
// the nearest second.
func databaseTime(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
