/** Exports all users page by page, in a stable order. */
import { exportedColumns } from '../../../core/user-columns.ts';
import { api, ask, type Outcome, type Schemas } from '../../api.ts';
import { type FileFormat, type ListFile, listFile } from '../../list-file.ts';
import { readAll } from '../../read-all.ts';

type User = Schemas['UserEntry'];
type UserStatusFilter = Schemas['UserStatusFilter'];

interface ExportPlan {
  readonly applicationId: string;
  readonly format: FileFormat;
  readonly filters: { readonly status?: string; readonly role?: string; readonly membership?: string };
  /** Only admins see profiles. */
  readonly hasProfiles: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (count: number) => void;
}

const PAGE = 200;

/** @returns null when stopped. */
export async function exportUsers(plan: ExportPlan): Promise<Outcome<ListFile<User> | null>> {
  const { applicationId, format, filters, hasProfiles, signal, onProgress } = plan;
  const file = listFile<User>(
    format,
    exportedColumns(hasProfiles).map(({ name, cellOf }) => [name, cellOf]),
  );
  const read = await readAll<User>({
    load: (cursor) =>
      ask(
        api.GET('/api/applications/{id}/users', {
          params: {
            path: { id: applicationId },
            query: {
              ...filters,
              status: filters.status as UserStatusFilter | undefined,
              limit: PAGE,
              cursor,
              sort: 'joined',
              include: hasProfiles ? 'profile,metadata' : undefined,
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
