#!/usr/bin/env node
import { basename } from 'node:path';
import { execute } from './program.ts';
import { paperOf } from './terminal/print.ts';

/** One program under two names: as `kubectl-openstack` it is a plugin of kubectl. */
const isPlugin = basename(process.argv[1] ?? '').startsWith('kubectl-openstack');

// A reader that leaves early (`| head`) is no error.
process.stdout.on('error', error => process.exit((error as NodeJS.ErrnoException).code === 'EPIPE' ? 0 : 1));

const code = await execute(isPlugin ? 'kubectl openstack' : 'openstack-operator', process.argv.slice(2), {
  out: text => void process.stdout.write(text),
  err: text => void process.stderr.write(text),
  paper: paperOf(process.stdout, process.env),
  repaints: process.stdout.isTTY === true,
});
if (code !== 0) process.exitCode = code;
// A command that has ended has ended: timers of an embedded world or idle sockets must not keep the process. What it
// wrote into a pipe must have left it first.
process.stdout.write('', () => process.exit());
