/** Shapes of the raw statements that the store builds at each use. Imported by `store-statements.ts` alone. */
import type { Reader } from '../../src/db/database.ts';
import {
  type AuditFilter,
  type AuditScope,
  isIndexed,
  listAuditRecords,
  listAuditRecordsOf,
  scanAuditRecords,
} from '../../src/store/audit-lists.ts';
import { scanDeliveries } from '../../src/store/delivery-search.ts';
import { findIndexedMembers, findMemberByTerm, memberTerms, scanMembers } from '../../src/store/member-search.ts';
import { PERSONAL_TABLES, personalRows } from '../../src/store/personal-data.ts';

const SCOPES: readonly AuditScope[] = [
  { workspaceId: 'w', applicationId: 'a' },
  { workspaceId: 'w', applicationId: null },
];
const FILTERS: readonly AuditFilter[] = [
  {},
  { ok: false },
  { ok: true },
  { userId: 'u' },
  { actorUserId: 'u' },
  { actorApiKeyId: 'k' },
  { targetId: 't' },
  { requestId: 'r' },
  { requestId: 'r', targetId: 't', userId: 'u', actorApiKeyId: 'k', actorUserId: 'u' },
  { userId: 'u', ok: false, family: 'user', country: 'DE', email: 'e', needle: 'n' },
  { ok: false, email: 'e' },
  { family: 'user.banned' },
  { family: 'user' },
  { family: 'u' },
  { country: 'DE' },
  { email: 'e' },
  { reason: 'r' },
  { ok: false, family: 'signin.refused', reason: 'r', needle: 'n' },
  { needle: 'n' },
  { from: 1, to: 2 },
];

async function buildAuditLists(reader: Reader): Promise<void> {
  for (const scope of SCOPES)
    for (const filter of FILTERS)
      for (const after of [null, [1, 'x'] as const]) {
        await listAuditRecords(reader, scope, filter, { after, limit: 2 });
        await listAuditRecordsOf(reader, scope, filter, { emails: ['e'], after, limit: 2 });
        if (!isIndexed(scope, filter)) await scanAuditRecords(reader, scope, filter, { after, size: 9, limit: 2 });
      }
}

async function buildMemberSearch(reader: Reader): Promise<void> {
  const one = [
    {},
    { status: 'active' },
    { status: 'banned' },
    { isImported: true },
    { role: 'r' },
    { membership: 'm' },
  ] as const;
  const terms = [undefined, 'ada', 'ada love', `usr_${'0'.repeat(26)}`].flatMap((q) => [
    memberTerms(q, true),
    memberTerms(q, false),
  ]);
  for (const order of ['last_seen', 'joined'] as const)
    for (const after of [null, { lastSeenAt: 1, id: 'x' }])
      for (const filter of [...one, Object.assign({}, ...one)])
        for (const term of terms) {
          const asked = { applicationId: 'a', filter, terms: term, order, after };
          await scanMembers(reader, asked, 9);
          await findMemberByTerm(reader, asked);
          await findIndexedMembers(reader, asked, 9);
        }
}

async function buildDeliverySearch(reader: Reader): Promise<void> {
  for (const status of [undefined, 'failed'] as const)
    for (const before of [undefined, 'x'])
      await scanDeliveries(reader, { webhookId: 'w', eventType: 'e', status }, { before, size: 9, limit: 2 });
}

async function buildPersonalData(reader: Reader): Promise<void> {
  for (const table of PERSONAL_TABLES) for await (const _ of personalRows(reader, table, 'u'));
}

/** Builds every shape, file by file. */
export const BUILT: readonly ((reader: Reader) => Promise<void>)[] = [
  buildAuditLists,
  buildMemberSearch,
  buildDeliverySearch,
  buildPersonalData,
];
