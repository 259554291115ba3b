/** The mail server that owners of the first workspace set: kept only once it has accepted a test mail. */
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { parseSender } from '../../core/email.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Principal } from '../../core/principal.ts';
import type { Database, Unit } from '../../db/database.ts';
import { type MailServerParts, serverAddress, smtpUrlOf } from '../../mail/server-url.ts';
import { smtpTransport } from '../../mail/smtp.ts';
import { recordAudit } from '../../store/audit.ts';
import { deleteMailServer, findMailServer, setMailServer } from '../../store/mail-servers.ts';
import { bringMailsForward } from '../../store/mails.ts';
import type { InstanceFacts } from '../health/facts.ts';
import type { MailTests } from '../outbox/mail-test.ts';
import type { MailServerInput, MailServerRecord } from './model.ts';

export interface MailServerDependencies {
  readonly db: Database;
  readonly instanceKey: InstanceKey;
  readonly instance: Pick<InstanceFacts, 'mail' | 'isMailServerFixed'>;
  readonly tests: Pick<MailTests, 'send'>;
}

/** Shorter than the wait for a test mail, so that silence is reported with what it was that did not answer. */
const TIMEOUT_MS = 10_000;
/** Mails of a priority that are retried at once; the others follow within the hour, as scheduled. */
const BROUGHT_FORWARD = 500;

export type MailServers = ReturnType<typeof mailServerService>;

export function mailServerService({ db, instanceKey, instance, tests }: MailServerDependencies) {
  async function present(): Promise<MailServerRecord> {
    const { source, server, from } = await instance.mail();
    const row = source === 'console' ? await findMailServer(db.reader) : undefined;
    const settings = row && {
      host: row.host,
      port: row.port,
      tls: row.tls,
      username: row.username,
      setAt: isoTime(row.setAt),
    };
    return { source, isFixed: instance.isMailServerFixed, server, from, settings: settings ?? null };
  }

  /** @throws {AppError} invalid_state if the environment sets the mail server. */
  function requireChangeable(): void {
    if (instance.isMailServerFixed) throw new AppError('invalid_state', { hint: 'mail_server_fixed' });
  }

  /** Sends the caller a mail by this server. @throws {AppError} invalid_request if it is not accepted; rate_limited */
  async function requireAccepted(
    caller: { readonly actor: Actor; readonly principal: Principal; readonly workspaceId: string },
    url: string,
    from: string,
  ): Promise<void> {
    const { actor, principal, workspaceId } = caller;
    const candidate = smtpTransport({ url, from, timeoutMs: TIMEOUT_MS });
    try {
      const { outcome, answer } = await tests.send(actor, principal, workspaceId, undefined, candidate);
      if (outcome === 'accepted') return;
      if (answer === null) throw new AppError('invalid_request', { hint: 'mail_server_silent' });
      throw new AppError('invalid_request', { hint: 'mail_server_refused', values: { answer } });
    } finally {
      candidate.close();
    }
  }

  /** Retries mails that wait since the server before did not accept them. */
  async function retryWaiting(unit: Unit): Promise<void> {
    for (const priority of ['code', 'notice'] as const) await bringMailsForward(unit, priority, 0, BROUGHT_FORWARD);
  }

  return {
    get: present,

    /**
     * Replaces the mail server. Private hosts are allowed: an operator may name any host, as in the environment.
     * @throws {AppError} invalid_request, with the server's answer if it refuses; invalid_state; rate_limited
     */
    async set(
      actor: Actor,
      principal: Principal,
      workspaceId: string,
      input: MailServerInput,
    ): Promise<MailServerRecord> {
      requireChangeable();
      const { password, ...server } = partsOf(input);
      const from = parseSender(input.from);
      if (from === null) throw invalidField('from', 'Give an address, such as Acme <no-reply@acme.example>.');
      await requireAccepted({ actor, principal, workspaceId }, smtpUrlOf({ ...server, password }), from);
      const sealedPassword = password === null ? null : await instanceKey.seal('mail server', password);
      await db.write(actor, async (unit) => {
        await setMailServer(unit, { ...server, sealedPassword, sender: from });
        await retryWaiting(unit);
        const detail = { server: serverAddress(server), tls: server.tls, from };
        await recordAudit(unit, { kind: 'mail.server_set', workspaceId, detail });
      });
      return present();
    },

    /** Mail stays in the outbox from then on. @throws {AppError} not_found; invalid_state */
    async remove(actor: Actor, workspaceId: string): Promise<MailServerRecord> {
      requireChangeable();
      await db.write(actor, async (unit) => {
        const row = await findMailServer(unit);
        if (!row) throw new AppError('not_found');
        await deleteMailServer(unit);
        await recordAudit(unit, { kind: 'mail.server_removed', workspaceId, detail: { server: serverAddress(row) } });
      });
      return present();
    },
  };
}

/** @throws {AppError} invalid_request for an invalid host, or half a login. */
function partsOf({ host, port, tls, username = null, password = null }: MailServerInput): MailServerParts {
  if (username === null && password !== null)
    throw invalidField('username', 'Give the user name that the password is for, or no password.');
  if (username !== null && password === null)
    throw invalidField('password', 'Give the password: it is sent with every change of the mail server.');
  const parts = { host, port, tls, username, password };
  if (URL.parse(smtpUrlOf(parts)) === null)
    throw invalidField('host', 'Give a host name or an IP address, without a port.');
  return parts;
}
