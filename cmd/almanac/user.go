package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/almanac-cal/almanac/calendar"
	"github.com/almanac-cal/almanac/edit"
	"github.com/almanac-cal/almanac/ent"
	"github.com/almanac-cal/almanac/internal/auth"
	"github.com/almanac-cal/almanac/internal/store"
)

type userCmds struct {
	Add     userAddCmd     `cmd:"" help:"Add a user and print a new token, once, as the last word."`
	List    userListCmd    `cmd:"" help:"List all users."`
	Passwd  userPasswdCmd  `cmd:"" help:"Set a user's password, from the terminal or standard input."`
	Role    userRoleCmd    `cmd:"" help:"Change the role of a user."`
	Disable userDisableCmd `cmd:"" help:"Disable a user's password and tokens."`
	Enable  userEnableCmd  `cmd:"" help:"Enable a disabled user."`
	Remove  userRemoveCmd  `cmd:"" help:"Delete a user and their tokens permanently. Their records stay, without an author."`
}

type userAddCmd struct {
	database      `group:"Database:"`
	Login         string `arg:"" help:"Login, of these characters: a-z 0-9 . _ @ + and -."`
	Name          string `placeholder:"TEXT" help:"Name to show."`
	Role          string `required:"" placeholder:"ROLE" enum:"subscriber,contributor,author,editor,administrator" help:"One of subscriber, contributor, author, editor and administrator."`
	Password      string `xor:"password" placeholder:"TEXT" help:"Password, visible to other users of this machine. Without one, the user signs in with tokens only."`
	PasswordStdin bool   `xor:"password" help:"Ask for the password, or read it from standard input."`
	TokenOnly     bool   `help:"Print the token alone, for scripts."`
}

// Run adds a user and a first token in one transaction.
func (c userAddCmd) Run(ctx context.Context, s streams) error {
	if c.PasswordStdin {
		password, err := readPassword(ctx, s)
		if err != nil {
			return err
		}
		c.Password = password
	}
	return c.withCurrent(ctx, func(st *store.Store) error {
		id, secret, err := addUser(ctx, st, c.Login, c.Name, calendar.Role(c.Role), c.Password)
		if err != nil {
			return err
		}
		if c.TokenOnly {
			_, err = fmt.Fprintln(s.Out, secret)
		} else {
			_, err = fmt.Fprintf(s.Out, "user %d, token %s\n", id, secret)
		}
		return err
	})
}

// addUser adds a user and a first token. It returns the user's id and the token's secret.
func addUser(ctx context.Context, st *store.Store, login, name string, role calendar.Role, password string) (id int64, secret string, err error) {
	err = store.Tx(ctx, st.Ent, func(tx *ent.Tx) error {
		user, err := auth.AddUser(ctx, tx.Client(), clockNow(), login, name, role, password)
		if err != nil {
			return err
		}
		id = user.ID
		secret, _, err = auth.IssueToken(ctx, tx.Client(), clockNow(), user.ID, "first token", nil)
		return err
	})
	return id, secret, err
}

type userListCmd struct {
	database `group:"Database:"`
	JSON     bool `name:"json" help:"Print a JSON array."`
}

// userRow is a user in the output of "user list". It has no hash of the password.
type userRow struct {
	ID          int64         `json:"id"`
	Login       string        `json:"login"`
	Name        string        `json:"name"`
	Role        calendar.Role `json:"role"`
	HasPassword bool          `json:"has_password"`
	CreatedAt   time.Time     `json:"created_at"`
	DisabledAt  *time.Time    `json:"disabled_at"`
}

// Run lists the users in the order of their logins.
func (c userListCmd) Run(ctx context.Context, s streams) error {
	return c.withCurrent(ctx, func(st *store.Store) error {
		users, err := auth.ListUsers(ctx, st.Ent)
		if err != nil {
			return err
		}
		rows := make([]userRow, len(users))
		for i, u := range users {
			rows[i] = userRow{
				ID: u.ID, Login: u.Login, Name: u.Name, Role: u.Role, HasPassword: u.PasswordHash != nil,
				CreatedAt: u.CreatedAt.UTC(), DisabledAt: toUTC(u.DisabledAt),
			}
		}
		if c.JSON {
			return printJSON(s.Out, rows)
		}
		t := newTable(s.Out, "ID", "LOGIN", "NAME", "ROLE", "PASSWORD", "CREATED", "DISABLED")
		for _, r := range rows {
			password := "no"
			if r.HasPassword {
				password = "yes"
			}
			t.row(r.ID, r.Login, r.Name, r.Role, password, &r.CreatedAt, r.DisabledAt)
		}
		return t.Flush()
	})
}

// userArg has the argument that names the user to change.
type userArg struct {
	database `group:"Database:"`
	Login    string `arg:"" help:"Login of the user."`
}

// change finds the user and runs do in one transaction. If guard is true, it returns an error if the user is the only
// administrator. After a success it prints the text done.
func (c userArg) change(
	ctx context.Context, s streams, guard bool, done string, do func(ctx context.Context, tx *ent.Tx, id int64) error,
) error {
	return c.changeBy(ctx, s, &edit.Editor{Now: clockNow(), By: auth.System()}, guard, done, do)
}

// changeBy finds the user and runs do in one transaction of the editor e. do may write records through e. If guard is
// true, it returns an error if the user is the only administrator. After a success it prints the text done.
func (c userArg) changeBy(
	ctx context.Context, s streams, e *edit.Editor, guard bool, done string,
	do func(ctx context.Context, tx *ent.Tx, id int64) error,
) error {
	return c.withCurrent(ctx, func(st *store.Store) error {
		var login string
		err := edit.Write(ctx, st.Ent, e, func(tx *ent.Tx) error {
			u, err := auth.FindUser(ctx, tx.Client(), c.Login)
			if err != nil {
				return err
			}
			login = u.Login
			if guard {
				if err := auth.KeepAdministrator(ctx, tx.Client(), u.ID); err != nil {
					return err
				}
			}
			return do(ctx, tx, u.ID)
		})
		if errors.Is(err, auth.ErrLastAdministrator) {
			return fmt.Errorf("%w; add --force to proceed", err)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.Out, "user %s: %s\n", login, done)
		return err
	})
}

type userPasswdCmd struct {
	userArg
	Password string `xor:"password" placeholder:"TEXT" help:"Password, visible to other users of this machine."`
	None     bool   `xor:"password" help:"Remove the password."`
}

// Run sets or removes the password. It reads a password before it opens the database, so that no connection
// waits for the input.
func (c userPasswdCmd) Run(ctx context.Context, s streams) error {
	done := "password set"
	switch {
	case c.None:
		done = "password removed"
	case c.Password == "":
		password, err := readPassword(ctx, s)
		if err != nil {
			return err
		}
		c.Password = password
	}
	return c.change(ctx, s, false, done, func(ctx context.Context, tx *ent.Tx, id int64) error {
		return auth.SetPassword(ctx, tx.Client(), id, c.Password)
	})
}

// forceFlag has the flag that allows a calendar without an administrator.
type forceFlag struct {
	Force bool `help:"Proceed even if no administrator would be left."`
}

type userRoleCmd struct {
	userArg
	Role string `arg:"" enum:"subscriber,contributor,author,editor,administrator" help:"One of subscriber, contributor, author, editor and administrator."`
	forceFlag
}

// Run gives the user a role.
func (c userRoleCmd) Run(ctx context.Context, s streams) error {
	role := calendar.Role(c.Role)
	guard := role != calendar.Administrator && !c.Force
	return c.change(ctx, s, guard, "role "+c.Role, func(ctx context.Context, tx *ent.Tx, id int64) error {
		return auth.SetRole(ctx, tx.Client(), id, role)
	})
}

type userDisableCmd struct {
	userArg
	forceFlag
}

// Run disables the user.
func (c userDisableCmd) Run(ctx context.Context, s streams) error {
	return c.change(ctx, s, !c.Force, "disabled", func(ctx context.Context, tx *ent.Tx, id int64) error {
		return auth.SetDisabled(ctx, tx.Client(), clockNow(), id, true)
	})
}

type userEnableCmd struct{ userArg }

// Run enables the user.
func (c userEnableCmd) Run(ctx context.Context, s streams) error {
	return c.change(ctx, s, false, "enabled", func(ctx context.Context, tx *ent.Tx, id int64) error {
		return auth.SetDisabled(ctx, tx.Client(), clockNow(), id, false)
	})
}

type userRemoveCmd struct {
	userArg
	forceFlag
}

// Run removes the user.
func (c userRemoveCmd) Run(ctx context.Context, s streams) error {
	e := &edit.Editor{Now: clockNow(), By: auth.System()}
	return c.changeBy(ctx, s, e, !c.Force, "removed", e.RemoveUser)
}
