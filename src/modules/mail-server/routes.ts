import { AppError } from '../../core/error.ts';
import type { Principal } from '../../core/principal.ts';
import type { Reader } from '../../db/database.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { isOperator } from '../health/operator.ts';
import { MailServerInput, MailServerSchema } from './model.ts';
import type { MailServers } from './service.ts';

export function mailServerRoutes(servers: MailServers, reader: Reader): Operation[] {
  const common = {
    tag: 'Workspace',
    scope: 'workspace',
    consoleRole: 'owner',
    path: '/api/workspace/mail/server',
    data: MailServerSchema,
  } as const;

  /** @throws {AppError} forbidden */
  async function requireOperator(principal: Principal): Promise<void> {
    if (!(await isOperator(reader, principal))) throw new AppError('forbidden', { hint: 'operator_needed' });
  }

  return [
    operation({
      ...common,
      id: 'getMailServer',
      method: 'GET',
      summary: 'Read the mail server of the instance, as an owner of the first workspace',
      description: 'The password is never returned.',
      access: 'read',
      limit: 'key',
      async handle({ principal }) {
        await requireOperator(principal);
        return servers.get();
      },
    }),
    operation({
      ...common,
      id: 'setMailServer',
      method: 'PUT',
      summary: 'Set the mail server of the instance, as an owner of the first workspace',
      description:
        'First sends the caller a test mail by it. Unless the server accepts that within 15 seconds, nothing is kept, ' +
        'and the error has its answer. Takes effect at once on every instance, also for mails that wait. 409 while ' +
        '`GATEHOUSE_SMTP_URL` is set.',
      access: 'full',
      limit: 'key_mail',
      body: MailServerInput,
      errors: ['invalid_state'],
      async handle({ actor, principal, workspaceId, body }) {
        await requireOperator(principal);
        return servers.set(actor, principal, workspaceId, body);
      },
    }),
    operation({
      ...common,
      id: 'removeMailServer',
      method: 'DELETE',
      summary: 'Remove the mail server of the instance, as an owner of the first workspace',
      description: 'Mails, codes among them, stay in the outbox then. 409 while `GATEHOUSE_SMTP_URL` is set.',
      access: 'full',
      limit: 'key',
      errors: ['not_found', 'invalid_state'],
      async handle({ actor, principal, workspaceId }) {
        await requireOperator(principal);
        return servers.remove(actor, workspaceId);
      },
    }),
  ];
}
