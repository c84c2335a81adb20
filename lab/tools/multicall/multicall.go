// Package multicall runs one of several programs that live in one file, so that they share their
// compiled dependencies on disk and in the build cache.
package multicall

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	_ "time/tzdata" // CronJobs name time zones, and the lab's images have no zoneinfo
)

// Programs maps a program's name to its main function, which finds its own arguments in os.Args.
type Programs map[string]func()

// Run picks by the name the file was called by, or else by the first argument.
func Run(programs Programs) {
	if main, ok := programs[filepath.Base(os.Args[0])]; ok {
		main()
		return
	}
	if len(os.Args) > 1 {
		if main, ok := programs[os.Args[1]]; ok {
			os.Args = os.Args[1:]
			main()
			return
		}
	}
	names := make([]string, 0, len(programs))
	for name := range programs {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Fprintf(os.Stderr, "usage: %s PROGRAM [ARGUMENTS]; programs: %v\n", filepath.Base(os.Args[0]), names)
	os.Exit(2)
}
