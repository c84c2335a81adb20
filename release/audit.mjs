import { spawnSync } from 'node:child_process';

/**
 * Asks the registry for known vulnerabilities of the packages in package-lock.json. A registry that does not answer is no
 * proof of anything: said loudly, exit 0. Exit 1: something of severity high or critical is known.
 */
const SEVERE = ['high', 'critical'];

const { stdout } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8', maxBuffer: 64 << 20 });
let report;
try {
  report = JSON.parse(stdout);
} catch {
  report = {};
}
if (report.vulnerabilities === undefined) {
  console.log(`SKIPPED: audit of dependencies, because the registry did not answer: ${report.message ?? 'no JSON'}`);
} else {
  const found = Object.values(report.vulnerabilities);
  const severe = found.filter(each => SEVERE.includes(each.severity));
  for (const { name, severity, range, via } of found) {
    const titles = via.map(each => (typeof each === 'string' ? `through ${each}` : `${each.title} ${each.url}`));
    console.log(`${severity}: ${name} ${range}: ${titles.join('; ')}`);
  }
  console.log(
    `audit of dependencies: ${found.length} known vulnerabilities, ${severe.length} of them high or critical`,
  );
  if (severe.length > 0) process.exitCode = 1;
}
