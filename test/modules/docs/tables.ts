/** The tables of the guides that are generated from the code. `bun run guides` writes them into the files. */
import { join, resolve } from 'node:path';
import type { TObject, TSchema } from '@sinclair/typebox';
import { exampleAddress, PRODUCT_NAMES, productOf } from '@/console/views/settings/openid-snippets.ts';
import { ERROR_CATALOGUE } from '@/core/error.ts';
import { EVENT_SCHEMAS, EVENT_TYPES, type EventType } from '@/core/event.ts';
import { EVENT_SAMPLES } from '@/core/event-samples.ts';
import { ALL_SETTINGS, defaultText, type Setting, SETTING_GROUPS } from '@/settings.ts';

const FOLDER = resolve(import.meta.dir, '../../../src/modules/docs/guides');

/** Values that stand for a reader's in the guides. */
const READER = { issuer: 'http://localhost:8080', clientId: 'cli_…' };

/** Guides with generated tables, and the functions that rewrite their rows. */
const REWRITES: Readonly<Record<string, (text: string) => string>> = {
  settings(text) {
    const groups = Object.keys(SETTING_GROUPS);
    const rows = text.replace(/(?:^\| `GATEHOUSE_.*\n)+/gm, () => settingsOf(groups.shift()));
    if (groups.length > 0) throw new Error(`settings.md has no table for ${groups.join(', ')}`);
    return rows;
  },
  'errors-and-limits': (text) => text.replace(/(?:^\| \d{3} .*\n)+/m, errors()),
  events: (text) =>
    text.replace(/(?:^\| `user\..*\n)+/m, events).replace(/(?<=```jsonc\n)(?:\/\/ user\.[^]*?)(?=```)/, samples),
  openid: (text) => text.replace(/(?<=^## Products\n\n.+\n\n)[^]*?(?=^## Products that)/m, products),
};

export const SLUGS = Object.keys(REWRITES);

/** @param text of the guide's file. @returns the text with rows from the code. */
export function withTables(slug: string, text: string): string {
  return REWRITES[slug]?.(text) ?? text;
}

/** Removes the padding that the formatter adds to table columns. */
export function unpadded(text: string): string {
  return text.replace(/ {2,}/g, ' ');
}

function settingsOf(group: string | undefined): string {
  const settings = ALL_SETTINGS.filter((one) => one.group === group);
  return settings.map((setting) => `${settingRow(setting)}\n`).join('');
}

function settingRow(setting: Setting): string {
  const { env, flag, meaning } = setting;
  const code = (text: string) => `\`${text}\``;
  const name = [code(env), ...(flag ? [code(`--${flag.name}`)] : [])].join(', ');
  return ['|', name, '|', defaultText(setting, code), '|', meaning, '|'].filter(Boolean).join(' ');
}

function errors(): string {
  return Object.entries(ERROR_CATALOGUE)
    .sort(([, one], [, other]) => one.status - other.status)
    .map(([code, { status, message }]) => `| ${status} | \`${code}\` | ${message.replaceAll('|', '\\|')} |\n`)
    .join('');
}

/** @param rows with the hand-written causes of the events. */
function events(rows: string): string {
  const occasionOf = (type: EventType) => {
    const row = rows.split('\n').find((one) => one.startsWith(`| \`${type}\` `));
    return row?.split('|')[2]?.trim() ?? 'TODO: say when.';
  };
  return EVENT_TYPES.map((type) => `| \`${type}\` | ${occasionOf(type)} | ${fieldsOf(EVENT_SCHEMAS[type])} |\n`).join(
    '',
  );
}

function samples(): string {
  return EVENT_TYPES.map((type) => `// ${type}\n${JSON.stringify(EVENT_SAMPLES[type])}\n`).join('');
}

/** A section for each product: the same settings that the console shows. */
function products(): string {
  return PRODUCT_NAMES.map((name) => {
    const product = productOf(name, exampleAddress(name), READER);
    if (!product) throw new Error(`${name} has no settings`);
    const { docs, redirectUris, place, settings, note = '' } = product;
    const uris = redirectUris.map((uri) => `\`${uri}\``).join(', ');
    const facts = [
      [redirectUris.length === 1 ? 'Redirect URI' : 'Redirect URIs', uris],
      ['Where', place],
    ];
    if ('values' in settings)
      facts.push(
        ...settings.values.map(([label, value]) => [label, `\`${value}\``]),
        ...settings.choices.map(([label, value]) => [label, value]),
      );
    const list = facts.map((fact) => `- ${fact.join(': ')}\n`).join('');
    const block = 'code' in settings ? `\n\`\`\`${settings.language}\n${settings.code}\n\`\`\`\n` : '';
    return `### ${name}\n\n${list}${block}\n[Its documentation](${docs}).${note && ` ${note}`}\n\n`;
  }).join('');
}

function fieldsOf(schema: TObject): string {
  const required = new Set(schema.required);
  return Object.entries(schema.properties)
    .map(([name, field]) => {
      const said = typeof field.description === 'string' ? `: ${field.description.replace(/\.$/, '')}` : '';
      return `\`${name}\`${required.has(name) ? '' : ' (optional)'} ${kindOf(field)}${said}`;
    })
    .join('<br>');
}

function kindOf(schema: TSchema): string {
  if (Array.isArray(schema['anyOf'])) return schema['anyOf'].map((one: TSchema) => kindOf(one)).join(' or ');
  if (schema['type'] === 'array') return `list of ${kindOf(schema['items'] as TSchema)}s`;
  return String(schema['type']);
}

if (import.meta.main)
  for (const slug of SLUGS) {
    const file = Bun.file(join(FOLDER, `${slug}.md`));
    await file.write(withTables(slug, await file.text()));
  }
