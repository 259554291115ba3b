/** `gatehouse print`: prints the SBOM, licenses, deployment files, dashboards and the seed schema. */
import type { Flags } from '../config.ts';
import { SETTINGS } from '../settings.ts';
import { type Command, oneOf, UsageError } from './arguments.ts';
import { DEPLOYMENT_FILES, deploymentFile, POSTGRES } from './print/deployment.ts';
import { grafana } from './print/grafana.ts';
import { licenses, sbom } from './print/parts.ts';
import { prometheus } from './print/prometheus.ts';

interface Printed {
  readonly meaning: string;
  text(flags: Flags): string | Promise<string>;
}

const WHAT: Readonly<Record<string, Printed>> = {
  sbom: { meaning: 'Bill of materials (CycloneDX)', text: sbom },
  licenses: { meaning: 'Every license in the binary', text: licenses },
  grafana: { meaning: 'Dashboard to import into Grafana', text: grafana },
  prometheus: { meaning: 'Alert rules for Prometheus, with a scrape example', text: prometheus },
  schema: { meaning: 'JSON Schema of the file that apply and serve --seed take', text: schema },
  ...Object.fromEntries(
    Object.entries(DEPLOYMENT_FILES).map(([word, file]) => [
      word,
      { meaning: file.meaning, text: (flags: Flags) => deploymentFile(file, flags) },
    ]),
  ),
};

const ON_POSTGRES = Object.keys(DEPLOYMENT_FILES).filter((word) => DEPLOYMENT_FILES[word]?.onPostgres !== undefined);

const WORDS = Object.keys(WHAT);
const WIDTH = Math.max(...WORDS.map(({ length }) => length));

export const print: Command = {
  name: 'print',
  group: 'about',
  summary: 'Print deployment files, dashboards, the seed schema or licenses',
  operands: [{ name: 'WHAT', meaning: 'One of the following.', words: WORDS }],
  settings: [SETTINGS.baseUrl, SETTINGS.port],
  switches: { [POSTGRES]: `For ${oneOf(ON_POSTGRES)}: two instances on PostgreSQL behind a proxy.` },
  next: [
    ...Object.entries(WHAT).map(([word, { meaning }]) => `  ${word.padEnd(WIDTH)}  ${meaning}`),
    '',
    'The files contain the base URL and the port that are set.',
  ],
  async run(flags, [what = '']) {
    if (flags[POSTGRES] === true && !ON_POSTGRES.includes(what))
      throw new UsageError(`--${POSTGRES} is for ${oneOf(ON_POSTGRES)} only; leave it out.`);
    process.stdout.write((await WHAT[what]?.text(flags)) ?? '');
    return 0;
  },
};

/** Loads the schemas lazily, so that other commands start without them. */
async function schema(): Promise<string> {
  const { seedSchema } = await import('../modules/seed/json-schema.ts');
  return `${JSON.stringify(seedSchema(), null, 2)}\n`;
}
