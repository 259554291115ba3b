/** Everybody of an application as the parts of a file, page by page, in the order in which nobody moves meanwhile. */
import { api, ask, type Outcome, type Schemas } from '../../api.ts';
import { BYTE_ORDER_MARK, type Cell, csvOf } from '../../csv.ts';
import { readAll } from '../../read-all.ts';

export type ExportFormat = 'csv' | 'json';

type User = Schemas['UserEntry'];

interface ExportPlan {
  readonly applicationId: string;
  readonly format: ExportFormat;
  readonly filters: { readonly status?: string; readonly role?: string; readonly membership?: string };
  /** For admins. */
  readonly hasProfiles: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (count: number) => void;
}

export interface ExportedFile {
  readonly type: string;
  readonly parts: string[];
  readonly count: number;
}

const PAGE = 200;

const COLUMNS: readonly (readonly [name: string, cellOf: (user: User) => Cell, isOfProfile?: true])[] = [
  ['email', ({ email }) => email],
  ['username', ({ username }) => username],
  ['given_name', ({ profile }) => profile?.givenName, true],
  ['family_name', ({ profile }) => profile?.familyName, true],
  ['full_name', ({ profile }) => profile?.fullName, true],
  ['status', ({ status }) => status],
  ['roles', ({ roles }) => roles.join(';')],
  ['groups', ({ memberships }) => memberships.join(';')],
  ['scopes', ({ scopes }) => scopes.join(';')],
  ['locale', ({ profile }) => profile?.locale, true],
  ['timezone', ({ profile }) => profile?.timezone, true],
  ['languages', ({ profile }) => profile?.languages.map(({ code, level }) => `${code}:${level}`).join(';'), true],
  ['joined_at', ({ joinedAt }) => joinedAt],
  ['last_seen_at', ({ lastSeenAt }) => lastSeenAt],
  ['user_id', ({ userId }) => userId],
];

/** @returns null where it was stopped. */
export async function exportUsers(plan: ExportPlan): Promise<Outcome<ExportedFile | null>> {
  const { applicationId, format, filters, hasProfiles, signal, onProgress } = plan;
  const columns = COLUMNS.filter(([, , isOfProfile]) => hasProfiles || !isOfProfile);
  const parts = format === 'csv' ? [BYTE_ORDER_MARK, csvOf([columns.map(([name]) => name)])] : ['['];
  let count = 0;
  const read = await readAll<User>({
    load: (cursor) =>
      ask(
        api.GET('/api/applications/{id}/users', {
          params: {
            path: { id: applicationId },
            query: {
              ...filters,
              status: filters.status as User['status'] | undefined,
              limit: PAGE,
              cursor,
              sort: 'joined',
              include: hasProfiles ? 'profile' : undefined,
            },
          },
        }),
      ),
    onPage(users) {
      if (format === 'csv') parts.push(csvOf(users.map((user) => columns.map(([, cellOf]) => cellOf(user)))));
      else for (const user of users) parts.push(`${parts.length === 1 ? '\n' : ',\n'}${JSON.stringify(user)}`);
      count += users.length;
      onProgress(count);
    },
    signal,
    max: Number.POSITIVE_INFINITY,
  });
  if (!read.ok) return read;
  if (read.end === 'stopped') return { ok: true, data: null };
  if (format === 'json') parts.push('\n]\n');
  return { ok: true, data: { type: format === 'csv' ? 'text/csv;charset=utf-8' : 'application/json', parts, count } };
}
