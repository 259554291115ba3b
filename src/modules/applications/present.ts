import { ACCOUNT_FIELDS, OPTIONAL_PARTS } from '../../core/account-view.ts';
import { isoTime } from '../../core/clock.ts';
import { onlyOne } from '../../core/required.ts';
import type { Reader } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import { listDefaultRoles } from '../../store/grants.ts';
import { findPendingWork, type PendingWork } from '../../store/long-works.ts';
import type { ApplicationRecord } from './model.ts';

/** Pass a transaction's unit as reader to include its changes. @param now epoch milliseconds; decides `isHidden`. */
export async function presentApplication(reader: Reader, row: Application, now: number): Promise<ApplicationRecord> {
  return onlyOne(await presentApplications(reader, [row], now));
}

/** Returns the records in the order of the rows, with a constant number of statements. */
export async function presentApplications(
  reader: Reader,
  rows: readonly Application[],
  now: number,
): Promise<ApplicationRecord[]> {
  const ids = rows.map(({ id }) => id);
  const defaultRoles = await listDefaultRoles(reader, ids);
  const pendingWork = await findPendingWork(reader, ids);
  return rows.map((row) => present(row, defaultRoles.get(row.id) ?? [], pendingWork.get(row.id) ?? null, now));
}

function present(
  row: Application,
  defaultRoles: string[],
  pendingWork: PendingWork | null,
  now: number,
): ApplicationRecord {
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
    branding: {
      logoUrl: row.logoUrl,
      logoDarkUrl: row.logoDarkUrl,
      iconUrl: row.iconUrl,
      accentColor: row.accentColor,
      homeUrl: row.homeUrl,
      supportUrl: row.supportUrl,
      supportEmail: row.supportEmail,
    },
    account: {
      parts: OPTIONAL_PARTS.filter((part) => !row.hiddenAccountParts?.includes(part)),
      fields: ACCOUNT_FIELDS.filter((field) => !row.hiddenAccountFields?.includes(field)),
    },
    clientSecretPrefix: row.clientSecretPrefix,
    pendingWork,
    archivedAt: isoTime(row.archivedAt),
    deletedAt: isoTime(row.deletedAt),
    purgeAfter: isoTime(row.purgeAfter),
    isHidden: row.purgeAfter !== null && row.purgeAfter <= now,
    firstVerifiedAt: isoTime(row.firstVerifiedAt),
    verificationRefusal: refusalOf(row),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

function refusalOf(row: Application): ApplicationRecord['verificationRefusal'] {
  const { verificationRefusal: error, verificationRefusedAt: at } = row;
  return error === null || at === null ? null : { error, at: isoTime(at) };
}
