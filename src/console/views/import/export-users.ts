/** Everybody of an application as a file, page by page, in the order in which nobody moves meanwhile. */
import { api, ask, type Outcome, type Schemas } from '../../api.ts';
import { type FileColumn, type FileFormat, type ListFile, listFile } from '../../list-file.ts';
import { readAll } from '../../read-all.ts';

type User = Schemas['UserEntry'];

interface ExportPlan {
  readonly applicationId: string;
  readonly format: FileFormat;
  readonly filters: { readonly status?: string; readonly role?: string; readonly membership?: string };
  /** For admins. */
  readonly hasProfiles: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (count: number) => void;
}

const PAGE = 200;

const COLUMNS: readonly (readonly [...FileColumn<User>, isOfProfile?: true])[] = [
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
export async function exportUsers(plan: ExportPlan): Promise<Outcome<ListFile<User> | null>> {
  const { applicationId, format, filters, hasProfiles, signal, onProgress } = plan;
  const columns = COLUMNS.filter(([, , isOfProfile]) => hasProfiles || !isOfProfile);
  const file = listFile<User>(
    format,
    columns.map(([name, cellOf]) => [name, cellOf]),
  );
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
      file.add(users);
      onProgress(file.count());
    },
    signal,
    max: Number.POSITIVE_INFINITY,
  });
  if (!read.ok) return read;
  return { ok: true, data: read.end === 'stopped' ? null : file };
}
