/** `gatehouse print`: what the binary is made of, and the files that others need to run it or to watch it. */
import type { Command } from './arguments.ts';
import { licenses, sbom } from './print/parts.ts';

interface Printed {
  readonly meaning: string;
  text(): string;
}

const WHAT: Readonly<Record<string, Printed>> = {
  sbom: { meaning: 'Bill of materials (CycloneDX)', text: sbom },
  licenses: { meaning: 'Every license in the binary', text: licenses },
};

const choices = Object.entries(WHAT).map(([word, { meaning }]) => `${word}: ${meaning}.`);

export const print: Command = {
  name: 'print',
  group: 'about',
  summary: `Print ${Object.keys(WHAT).join(', ')}`,
  operands: [{ name: 'WHAT', meaning: choices.join(' '), words: Object.keys(WHAT) }],
  run(_flags, [what = '']) {
    process.stdout.write(WHAT[what]?.text() ?? '');
    return 0;
  },
};
