import { GOLDEN, write } from './clouds.ts';

/** `make golden`: after a change that replaces pods on purpose and says so in CHANGELOG.md under `Restarts:`. */
for (const group of GOLDEN) console.log(`${group.name}: ${await write(group)} bytes`);
