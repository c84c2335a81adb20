# The targets of the Makefile that have a line of help, under the headings (`##@ Heading`) between them.
/^##@ / { heading = substr($0, 5) }
/^[a-z-]+:.*## / {
  if (heading != "") printf "\n%s\n", heading
  heading = ""
  target = $0; sub(/:.*/, "", target)
  help = $0; sub(/^[^#]*## /, "", help)
  printf "  %-17s %s\n", target, help
}
END { print "\nWords for a target: make TARGET ARGS=\"...\"" }
