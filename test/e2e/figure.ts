import { appendFileSync } from 'node:fs';

/** A number that a scenario measured, for docs/evidence.json; `make lab-regression` says where to write it. */
export function figure(name: string, value: number | string): void {
  const file = process.env.EVIDENCE_FIGURES;
  if (file) appendFileSync(file, `${JSON.stringify({ [name]: value })}\n`);
}
