/**
 * Search of the addresses in a workspace's audit records and mails (`address_search`). Triggers enter each address once;
 * a job indexes its trigrams. Until then a search compares the address itself.
 */
import { tokensOf, tokensToFind } from '../core/search-tokens.ts';
import type { Reader, Unit } from '../db/database.ts';
import { type Dialect, dialectOf, note, query } from '../db/statements.ts';

const missing = query.rows<{ entry: number; workspaceId: string; address: string }, number>(
  `SELECT entry, workspace_id AS "workspaceId", address FROM address_search WHERE tokens IS NULL
   ORDER BY workspace_id, entry LIMIT :limit`,
);

const setTokens = note<{ texts: readonly object[] }>(
  ({ jsonRows }) => `UPDATE address_search SET tokens = filled.tokens
   FROM (SELECT * FROM ${jsonRows(':texts', { entry: 'integer', tokens: 'text' })}) AS filled
   WHERE address_search.entry = filled.entry`,
);

/** Indexes up to `limit` addresses. @returns how many it has indexed. */
export async function indexAddresses(unit: Unit, limit: number): Promise<number> {
  const rows = await missing(unit, limit);
  if (rows.length === 0) return 0;
  const texts = rows.map(({ entry, workspaceId, address }) => ({
    entry,
    tokens: tokensOf(workspaceId, 'address', address.toLowerCase()).join(' '),
  }));
  await setTokens(unit, { texts });
  return rows.length;
}

export const hasUnindexedAddress = query.exists('SELECT 1 FROM address_search WHERE tokens IS NULL LIMIT 1');

/** Kind of the background task that a migration has begun; while there is one, the table lacks addresses. */
export const ENTER_ADDRESSES = 'activity.enter_addresses';

/** Rows from before the table existed: each table with its address, and the column that continues a batch. */
const SOURCES = {
  records: entering('audit_records', 'email', 'email'),
  mails: entering('mails', 'recipient', 'id'),
};

export type AddressSource = keyof typeof SOURCES;

/** Cursor: the batch continues after this row, or after all rows of its address. */
export interface AddressPlace {
  readonly source: AddressSource;
  readonly workspaceId: string;
  readonly after: string;
}

function entering(table: string, email: string, key: string) {
  const batch = `WITH batch AS (
    SELECT workspace_id, ${key} AS place, ${email} AS email FROM ${table}
    WHERE ${email} IS NOT NULL AND (workspace_id, ${key}) > (:workspaceId, :after)
    ORDER BY workspace_id, ${key} LIMIT :limit
  )`;
  return {
    last: query.row<Omit<AddressPlace, 'source'> & { rows: number }, AddressPlace & { limit: number }>(
      `${batch} SELECT workspace_id AS "workspaceId", place AS "after", (SELECT count(*) FROM batch) AS rows FROM batch
       ORDER BY workspace_id DESC, place DESC LIMIT 1`,
    ),
    enter: note<AddressPlace & { limit: number }>(
      `${batch} INSERT INTO address_search (workspace_id, address)
       SELECT DISTINCT workspace_id, email FROM batch WHERE 1 = 1 ON CONFLICT DO NOTHING`,
    ),
  };
}

/** Enters the addresses of a batch of rows. @returns the place to continue at, and how many rows were read. */
export async function enterAddresses(
  unit: Unit,
  place: AddressPlace,
  limit: number,
): Promise<{ readonly next: AddressPlace | null; readonly rows: number }> {
  const { last, enter } = SOURCES[place.source];
  const { workspaceId, after, rows = 0 } = (await last(unit, { ...place, limit })) ?? {};
  if (rows > 0) await enter(unit, { ...place, limit });
  if (workspaceId !== undefined && after !== undefined && rows === limit)
    return { next: { source: place.source, workspaceId, after }, rows };
  return { next: place.source === 'records' ? { source: 'mails', workspaceId: '', after: '' } : null, rows };
}

/** Addresses that the index may yield, and addresses not indexed yet; with more, a scan by time finds a page sooner. */
const MOST_CANDIDATES = 2000;

interface Wanted {
  readonly workspaceId: string;
  readonly needle: string;
  readonly tokens: string;
  readonly size: number;
}

const isIncomplete = query.exists(`SELECT 1 FROM long_works WHERE kind = '${ENTER_ADDRESSES}'`);

interface Candidate {
  readonly address: string;
  readonly isMatch: boolean;
}

/** Tokens of another workspace may be equal by chance. */
const isMatch = (textPosition: Dialect['textPosition']) =>
  `a.workspace_id = :workspaceId AND ${textPosition('lower(a.address)', ':needle')} > 0 AS "isMatch"`;

const findMissing = query.rows<Candidate, Omit<Wanted, 'tokens'>>(
  ({ textPosition }) => `SELECT a.address, ${isMatch(textPosition)} FROM address_search a
   WHERE a.workspace_id = :workspaceId AND a.tokens IS NULL LIMIT :size`,
);

const findIndexed = query.rows<Candidate, Wanted>(
  ({ tokenMatches, joinInOrder, textPosition }) => `SELECT a.address, ${isMatch(textPosition)}
   FROM (${tokenMatches('address_search', ':tokens', ':size')}) AS c ${joinInOrder} address_search a ON a.entry = c.entry`,
);

/**
 * Finds a workspace's addresses that contain a text.
 *
 * @param needle in lower case.
 * @returns null where a scan must find them: the text is too short or too common, or the table is not complete yet.
 */
export async function findAddresses(reader: Reader, workspaceId: string, needle: string): Promise<string[] | null> {
  const tokens = needle.split(/\s+/).flatMap((word) => tokensToFind(workspaceId, 'address', word));
  if (tokens.length === 0) return null;
  const wanted = {
    workspaceId,
    needle,
    tokens: tokens.join(dialectOf(reader).tokenQuery.and),
    size: MOST_CANDIDATES,
  };
  if (await isIncomplete(reader)) return null;
  // First, so that an address that is indexed between the two statements is in both, not in neither.
  const missing = await findMissing(reader, wanted);
  if (missing.length === MOST_CANDIDATES) return null;
  // Counted by the same statement: PostgreSQL takes milliseconds to intersect common trigrams.
  const indexed = await findIndexed(reader, wanted);
  if (indexed.length === MOST_CANDIDATES) return null;
  const found = [...missing, ...indexed].filter((candidate) => candidate.isMatch);
  return [...new Set(found.map(({ address }) => address))];
}
