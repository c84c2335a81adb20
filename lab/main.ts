import { lock, debianRoot, releaseRoot } from './images/build.ts';
import type { Release } from './images/names.ts';
import { type ToolGroup, tools } from './tools.ts';

const [command, ...args] = process.argv.slice(2);
if (command === 'tools') console.log(await tools(args.length > 0 ? (args as ToolGroup[]) : undefined));
if (command === 'lock') console.log(await lock(args[0] as Release));
if (command === 'debian') console.log(await debianRoot());
if (command === 'release') console.log(await releaseRoot(args[0] as Release));
