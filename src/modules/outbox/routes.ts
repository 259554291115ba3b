import { AppError } from '../../core/error.ts';
import type { Principal } from '../../core/principal.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { pageResponse } from '../../http/page-response.ts';
import { announceLimit } from '../../http/rate-limit.ts';
import type { MailTests } from './mail-test.ts';
import { MailTestInput, MailTestSchema, OutboxLetterSchema, OutboxPage, OutboxQuery } from './model.ts';
import type { Caller, OutboxReader } from './service.ts';

export function outboxRoutes(outbox: OutboxReader, tests: MailTests): Operation[] {
  const common = { tag: 'Workspace', scope: 'workspace' } as const;
  const path = '/api/workspace/outbox';
  return [
    operation({
      ...common,
      id: 'listOutbox',
      method: 'GET',
      path,
      summary: 'List the workspace’s mails, newest first, as an owner',
      description:
        'Mails of the workspace and its applications, and the console’s to its members. With `q` a page may ' +
        'be short although another page follows.',
      access: 'read',
      consoleRole: 'owner',
      limit: 'key',
      query: OutboxQuery,
      data: OutboxPage,
      errors: ['invalid_cursor'],
      handle: ({ principal, workspaceId, query }) => outbox.list(callerOf(principal), workspaceId, query),
    }),
    operation({
      ...common,
      id: 'getOutboxMail',
      method: 'GET',
      path: `${path}/:mailId`,
      summary: 'Read a mail, with its code, as an owner',
      description:
        'The content is null if `isReadable` is false: it is deleted once a mail is sent or given up. ' +
        'Reading a mail to somebody else is audited (`mail.read`).',
      access: 'read',
      consoleRole: 'owner',
      limit: 'key',
      data: OutboxLetterSchema,
      errors: ['not_found'],
      handle: ({ actor, principal, workspaceId, params }) =>
        outbox.get(actor, callerOf(principal), workspaceId, params.mailId),
    }),
    operation({
      ...common,
      id: 'getOutboxMailLook',
      method: 'GET',
      path: `${path}/:mailId/look`,
      summary: 'View a mail as its recipient sees it, as an owner',
      description: 'An HTML document without scripts, for a frame. Audited like reading. 404 if `isReadable` is false.',
      access: 'read',
      consoleRole: 'owner',
      limit: 'key',
      mediaType: 'text/html',
      errors: ['not_found'],
      async handle({ actor, principal, workspaceId, params, context }) {
        const { html } = await outbox.get(actor, callerOf(principal), workspaceId, params.mailId);
        if (html === null) throw new AppError('not_found');
        return pageResponse(context, html, 'letter');
      },
    }),
    operation({
      ...common,
      id: 'testMail',
      method: 'POST',
      path: '/api/workspace/mail/test',
      summary: 'Send a test mail to a member now, and return the mail server’s answer',
      description:
        'Answers within 15 seconds; a refusal by the mail server is an answer too, with 200. Sent once, and ' +
        'listed in the outbox. A key sets the recipient in `to`.',
      access: 'full',
      limit: 'key_mail',
      body: MailTestInput,
      isBodyOptional: true,
      data: MailTestSchema,
      async handle({ actor, principal, workspaceId, body, context }) {
        const result = await tests.send(actor, principal, workspaceId, body.to);
        announceLimit(context.headers, await tests.standing(workspaceId));
        return result;
      },
    }),
  ];
}

/** Refuses keys: only a person has the role of owner. */
function callerOf(principal: Principal): Caller {
  if (principal.kind === 'key') throw new AppError('forbidden', { hint: 'owner_needed' });
  return principal;
}
