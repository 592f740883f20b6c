// Package ent is generated from package schema. Written by hand are this file, entc.go and the folder template.
package ent

//go:generate go run entc.go
