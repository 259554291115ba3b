/** Reads the file that another service exported, as JSON, JSON lines or CSV, compressed or not. */
import { extname } from 'node:path';
import { rowsOfCsv } from '../../../core/csv.ts';
import { jsonErrorPosition } from '../../json-error-position.ts';
import { ExportedRecord } from './exported-record.ts';
import type { SourceUser, LeftOut, Source } from './source-user.ts';

type Fields = Record<string, unknown>;

export interface ReadExport {
  readonly users: readonly SourceUser[];
  readonly leftOut: readonly LeftOut[];
}

/** @param now in milliseconds. @throws {Error} naming the place in the file and the field that cannot be read. */
export async function readExport(
  file: string,
  bytes: Uint8Array<ArrayBuffer>,
  source: Source,
  now: number,
): Promise<ReadExport> {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const text = new TextDecoder().decode(isGzip ? Bun.gunzipSync(bytes) : bytes);
  const isCsv = extname(file.toLowerCase().replace(/\.gz$/, '')) === '.csv';
  const records = isCsv ? await csvRecords(text, source) : jsonRecords(text);
  if (records.length === 0) throw new Error(['it has no users.', source.empty].filter(Boolean).join(' '));
  const users: SourceUser[] = [];
  const leftOut: LeftOut[] = [];
  for (const record of records) {
    const user = source.read(record, now);
    if ('row' in user) users.push(user);
    else leftOut.push(user);
  }
  return { users, leftOut };
}

function jsonRecords(text: string): ExportedRecord[] {
  const lines = text.split('\n').map((line, at) => ({ line, place: `line ${at + 1}` }));
  const filled = lines.filter(({ line }) => line.trim() !== '');
  if (filled.length === 0) return [];
  const isLines = filled.every(({ line }) => /^\s*\{.*\}\s*$/.test(line));
  if (isLines && (filled.length > 1 || !hasUsers(filled[0]?.line ?? '')))
    return filled.map(({ line, place }) => recordAt(place, parsed(line, place)));
  const whole = parsed(text, null) as { users?: unknown; data?: unknown } | null;
  const list = Array.isArray(whole) ? whole : (whole?.users ?? whole?.data ?? []);
  if (!Array.isArray(list)) throw new Error('users: is no list');
  return list.map((user, at) => recordAt(`user ${at + 1}`, user));
}

/** Returns whether a line is a whole file, with a list of users in it. */
function hasUsers(line: string): boolean {
  return /"(?:users|data)"\s*:\s*\[/.test(line);
}

function parsed(text: string, place: string | null): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(place === null ? `${jsonErrorPosition(text) ?? 'the file'} is no JSON` : `${place} is no JSON`);
  }
}

function recordAt(place: string, value: unknown): ExportedRecord {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${place}: is no object`);
  return new ExportedRecord(place, value as Fields);
}

async function csvRecords(text: string, { columns, name }: Source): Promise<ExportedRecord[]> {
  const rows = await rowsOfCsv(text);
  const heads = columns ?? rows.shift() ?? [];
  let line = columns ? 1 : 2;
  return rows.flatMap((cells) => {
    const place = `line ${line}`;
    // A cell in quotes may have lines of its own.
    line += 1 + cells.join('').split('\n').length - 1;
    if (cells.every((cell) => cell.trim() === '')) return [];
    if (cells.length > heads.length)
      throw new Error(`${place}: has ${cells.length} columns, where an export of ${name} has ${heads.length}`);
    return [new ExportedRecord(place, nested(heads, cells))];
  });
}

/** Returns cells by head; those of heads such as `app_metadata.plan` become objects. */
function nested(heads: readonly string[], cells: readonly string[]): Fields {
  const fields: Fields = {};
  for (const [at, cell] of cells.entries()) {
    const [head = '', ...path] = (heads[at] ?? '').trim().split('.');
    const key = path.join('.');
    if (key === '') fields[head] = cell;
    else if (cell !== '') fields[head] = { ...(fields[head] as Fields | undefined), [key]: cell };
  }
  return fields;
}
