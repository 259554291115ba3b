/** `gatehouse users import`: imports a file of people in batches; idempotent. */
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { GivenAt } from '../../client/paths.ts';
import { rowsOfCsv } from '../../core/csv.ts';
import { StartupError } from '../../core/startup-error.ts';
import { fileRow, type ImportedField, plainHeading, USER_COLUMNS } from '../../core/user-columns.ts';
import { readError } from '../read-error.ts';
import { remoteCommand } from './remote-command.ts';

type Rows = GivenAt<'/api/applications/{id}/users/bulk', 'post'>[0]['body']['users'];
type Row = Rows[number];

/** API limit. */
const ROWS_A_CALL = 500;
const REFUSALS_SHOWN = 20;

export const usersImport = remoteCommand({
  name: 'users import',
  summary: 'Import users from a file',
  operands: [{ name: 'FILE', meaning: 'CSV with a header, JSON, or a JSON object a line (.jsonl).' }],
  isOfApplication: true,
  next: [
    'Columns of a CSV, as exports have them: email, username, givenName, familyName,',
    'fullName, locale, timezone, externalId, metadata (JSON), and roles, groups,',
    'scopes and languages (en:NATIVE) with spaces between.',
    'Nobody is mailed. Empty fields are filled, nothing is overwritten.',
    '',
    'Next: gatehouse users list',
  ],
  async execute({ client, terminal, operands: [file = ''], show, application }) {
    const rows = await rowsIn(file);
    const { id } = await application();
    const summary: Record<string, number> = { requested: 0, created: 0, linked: 0, alreadyMember: 0, skipped: 0 };
    const refused: { email: string; error: string | undefined }[] = [];
    const unknown = { roles: new Set<string>(), scopes: new Set<string>(), memberships: new Set<string>() };
    for (let from = 0; from < rows.length; from += ROWS_A_CALL) {
      const users = rows.slice(from, from + ROWS_A_CALL);
      const answer = await client.post('/api/applications/{id}/users/bulk', { path: { id }, body: { users } });
      for (const [name, count] of Object.entries(answer.summary)) summary[name] = (summary[name] ?? 0) + count;
      for (const { outcome, email, error } of answer.results) if (outcome === 'skipped') refused.push({ email, error });
      for (const name of ['roles', 'scopes', 'memberships'] as const)
        for (const slug of answer.unknownSlugs[name]) unknown[name].add(slug);
      terminal.progress(`${Math.min(from + ROWS_A_CALL, rows.length)} of ${rows.length} rows`);
    }
    terminal.progress(null);
    const unknownSlugs = Object.fromEntries(Object.entries(unknown).map(([name, slugs]) => [name, [...slugs]]));
    if (show.isJson) await show.json({ summary, skipped: refused, unknownSlugs });
    else {
      const { created, linked, alreadyMember, skipped } = summary;
      await show.say(`${created} created, ${linked} linked, ${alreadyMember} there already, ${skipped} skipped.`);
      for (const [name, slugs] of Object.entries(unknownSlugs))
        if (slugs.length > 0)
          terminal.err(`Unknown ${name === 'memberships' ? 'groups' : name}, not given: ${slugs.join(', ')}\n`);
      for (const { email, error } of refused.slice(0, REFUSALS_SHOWN))
        terminal.err(`skipped  ${email}  ${error ?? ''}\n`);
      if (refused.length > REFUSALS_SHOWN)
        terminal.err(`…and ${refused.length - REFUSALS_SHOWN} more; --json has all.\n`);
    }
    return refused.length > 0 ? 1 : 0;
  },
});

/** Reads the rows of a file. @throws {StartupError} naming the row that cannot be read. */
async function rowsIn(file: string): Promise<Rows> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    throw readError(file, error);
  }
  const kind = extname(file).toLowerCase();
  try {
    const rows =
      kind === '.json'
        ? listOf(JSON.parse(text))
        : kind === '.jsonl' || kind === '.ndjson'
          ? lines(text)
          : await csv(text);
    const missing = rows.findIndex((row) => typeof row?.email !== 'string' || row.email === '');
    if (missing >= 0) throw new Error(`row ${missing + 1} has no email`);
    return rows;
  } catch (error) {
    throw new StartupError(
      `${file} cannot be imported: ${(error as Error).message}. See "gatehouse help users import".`,
    );
  }
}

function listOf(value: unknown): Rows {
  const rows = (value as { users?: unknown } | null)?.users ?? value;
  if (!Array.isArray(rows)) throw new Error('it is neither a list nor an object with "users"');
  return rows as Rows;
}

function lines(text: string): Rows {
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as Row];
    } catch {
      throw new Error(`line ${at + 1} is no JSON`);
    }
  });
}

type Level = NonNullable<NonNullable<Row['profile']>['languages']>[number]['level'];

async function csv(text: string): Promise<Rows> {
  const [header = [], ...rows] = await rowsOfCsv(text);
  const places = new Map<ImportedField, number>();
  for (const [at, heading] of header.entries()) {
    const column = USER_COLUMNS.find(({ name }) => plainHeading(name) === plainHeading(heading));
    if (!column)
      throw new Error(`there is no column "${heading}"; there are ${USER_COLUMNS.map(({ name }) => name).join(', ')}`);
    if (column.field === null) continue;
    if (places.has(column.field)) throw new Error(`the column "${column.name}" is there twice`);
    places.set(column.field, at);
  }
  if (!places.has('email')) throw new Error('its first line has no column "email"');
  return rows
    .filter((cells) => cells.some((cell) => cell.trim() !== ''))
    .map((cells) => fileRow<Level>((field) => cells[places.get(field) ?? -1]?.trim() ?? ''));
}
