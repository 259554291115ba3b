/** Applications as their records show them. */
import { isoTime } from '../../core/clock.ts';
import { only } from '../../core/required.ts';
import type { Reader } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import { listDefaultRoles } from '../../store/grants.ts';
import { findPendingWork, type PendingWork } from '../../store/long-works.ts';
import type { ApplicationRecord } from './model.ts';

/** In a change, the change's unit is the reader: the record then shows what it has written. */
export async function presentApplication(reader: Reader, row: Application): Promise<ApplicationRecord> {
  return only(await presentApplications(reader, [row]));
}

/** In the order of the rows, with a constant number of statements. */
export async function presentApplications(reader: Reader, rows: readonly Application[]): Promise<ApplicationRecord[]> {
  const ids = rows.map(({ id }) => id);
  const defaultRoles = await listDefaultRoles(reader, ids);
  const pendingWork = await findPendingWork(reader, ids);
  return rows.map((row) => present(row, defaultRoles.get(row.id) ?? [], pendingWork.get(row.id) ?? null));
}

function present(row: Application, defaultRoles: string[], pendingWork: PendingWork | null): ApplicationRecord {
  return {
    id: row.id,
    workspaceId: row.workspaceId ?? '',
    clientId: row.clientId,
    slug: row.slug,
    name: row.name,
    stage: row.stage,
    signinGate: row.signinGate,
    betaRequestPolicy: row.betaRequestPolicy,
    signinMethods: row.signinMethods,
    defaultRoles,
    sessionTtlSeconds: row.sessionTtlSeconds,
    returnUrls: row.returnUrls,
    legalUrls: { terms: row.termsUrl, privacy: row.privacyUrl, imprint: row.imprintUrl },
    branding: { logoUrl: row.logoUrl, accentColor: row.accentColor },
    clientSecretPrefix: row.clientSecretPrefix,
    pendingWork,
    archivedAt: isoTime(row.archivedAt),
    deletedAt: isoTime(row.deletedAt),
    purgeAfter: isoTime(row.purgeAfter),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
