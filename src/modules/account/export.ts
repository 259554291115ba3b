/**
 * Exports everything stored about a person as JSON, from every table about them. Omits credentials (hashes, sealed
 * secrets, codes and their mails) and data about other people.
 */
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import type { Database } from '../../db/database.ts';
import { recordAudit } from '../../store/audit.ts';
import { PERSONAL_TABLES, type PersonalRow, personalRows } from '../../store/personal-data.ts';
import { requireOwnProof } from '../sign-in/step-up.ts';

/** Columns never exported: secrets, what contains one (mail subjects), and who decided about the person. */
const WITHHELD: Readonly<Record<string, readonly string[]>> = {
  sessions: ['tokenHash', 'pageTokenHash'],
  api_keys: ['tokenHash'],
  passkey_challenges: ['challenge'],
  provider_states: ['stateHash', 'browserHash'],
  email_changes: ['tokenHash'],
  oauth_codes: ['codeHash', 'codeChallenge', 'nonce'],
  oauth_refresh_tokens: ['tokenHash'],
  device_grants: ['deviceCodeHash', 'userCodeDigest'],
  // Anyone can request a code for an address, so the session may be someone else's.
  code_challenges: ['codeDigest', 'data', 'sessionId'],
  // The failed attempt may be someone else's.
  code_failures: ['addressBlock', 'browser'],
  mails: ['subject', 'text', 'html', 'code'],
  beta_interests: ['decidedById'],
  // The remaining work may name other people.
  long_works: ['data', 'cursor'],
};

/** Columns about the actor and its client; withheld if the actor was someone else. */
const OF_ACTOR: Readonly<Record<string, readonly string[]>> = {
  audit_records: ['actorUserId', 'actorApiKeyId', 'ip', 'ipCountry', 'requestId'],
  long_works: ['actor'],
};

export type Exports = ReturnType<typeof exportService>;

/** Streams the export batch by batch, never holding it in memory whole. */
export function exportService(db: Database) {
  async function* pieces(userId: string, exportedAt: string): AsyncGenerator<string> {
    yield `{"success":true,"data":{"exportedAt":${JSON.stringify(exportedAt)},"userId":${JSON.stringify(userId)},"tables":{`;
    for (const [index, table] of PERSONAL_TABLES.entries()) {
      yield `${index > 0 ? ',' : ''}${JSON.stringify(camelCase(table))}:[`;
      let isFirst = true;
      for await (const rows of personalRows(db.reader, table, userId)) {
        if (rows.length === 0) continue;
        const text = rows.map((row) => JSON.stringify(present(table, row, userId))).join(',');
        yield isFirst ? text : `,${text}`;
        isFirst = false;
        // Yields to the event loop, so that a fast reader does not stall other requests.
        await yieldToEventLoop();
      }
      yield ']';
    }
    yield '}}}';
  }

  return {
    /** Returns the body as a stream; the audit record is written first. @throws {AppError} reauthentication_required */
    async everything(actor: Actor, principal: SessionPrincipal): Promise<ReadableStream<Uint8Array>> {
      const { userId, applicationId } = principal;
      const exportedAt = await db.write(actor, async (unit) => {
        await requireOwnProof(unit, principal, { purpose: 'account_export' });
        await recordAudit(unit, { kind: 'account.exported', applicationId, userId });
        return isoTime(unit.now);
      });
      const source = pieces(userId, exportedAt);
      const encoder = new TextEncoder();
      return new ReadableStream({
        async pull(controller) {
          const { value, done } = await source.next();
          if (done) controller.close();
          else controller.enqueue(encoder.encode(value));
        },
        async cancel() {
          await source.return(undefined);
        },
      });
    },
  };
}

function present(table: string, row: PersonalRow, userId: string): PersonalRow {
  const withheld = [...(WITHHELD[table] ?? []), ...(actorOf(row) === userId ? [] : (OF_ACTOR[table] ?? []))];
  return Object.fromEntries(
    Object.entries(row)
      .filter(([field]) => !withheld.includes(field))
      .map(([field, value]) => [field, readable(field, value)]),
  );
}

function actorOf({ actorUserId, actor }: PersonalRow): unknown {
  return actorUserId ?? (actor as Actor | undefined)?.userId;
}

/** Formats times as ISO 8601 and binary values as base64. */
function readable(field: string, value: unknown): unknown {
  if (typeof value === 'number' && /(?:At|Until|After)$/.test(field)) return isoTime(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
