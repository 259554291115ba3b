import { type Operation, operation } from '../../http/operation.ts';
import { pageResponse } from '../../http/page-response.ts';
import { MailLineInput, MailLines, MailPreview, MailPreviewQuery } from './model.ts';
import type { MailLineService } from './service.ts';

export function mailLineRoutes(lines: MailLineService): Operation[] {
  const common = { tag: 'Applications', scope: 'application', limit: 'key' } as const;
  const path = '/api/applications/:id/mail-lines';
  return [
    operation({
      ...common,
      id: 'listMailLines',
      isNoTool: true,
      method: 'GET',
      path,
      summary: 'List the application’s own lines in its mails',
      access: 'read',
      data: MailLines,
      handle: ({ application }) => lines.list(application),
    }),
    operation({
      ...common,
      id: 'setMailLine',
      isNoTool: true,
      method: 'PUT',
      path,
      summary: 'Set a line of the application’s own in a mail, for one language',
      gives: { words: 'People read it in the mails that the application sends them.' },
      description: 'Plain text above the foot; null removes it. Other languages keep theirs, or have none.',
      access: 'full',
      body: MailLineInput,
      data: MailLines,
      handle: ({ actor, application, body }) => lines.set(actor, application, body),
    }),
    operation({
      ...common,
      id: 'previewMail',
      isNoTool: true,
      method: 'GET',
      path: `${path}/preview`,
      summary: 'Preview a mail with sample values and a line',
      access: 'read',
      query: MailPreviewQuery,
      data: MailPreview,
      async handle({ application, query }) {
        const { from, subject, text } = lines.preview(application, query);
        return { sender: from?.name ?? application.name, replyTo: from?.replyTo ?? null, subject, text };
      },
    }),
    operation({
      ...common,
      id: 'previewMailLook',
      isNoTool: true,
      method: 'GET',
      path: `${path}/preview/look`,
      summary: 'View that preview as an HTML document, for a frame',
      access: 'read',
      query: MailPreviewQuery,
      mediaType: 'text/html',
      async handle({ application, query, context }) {
        return pageResponse(context, lines.preview(application, query).html, 'letter');
      },
    }),
  ];
}
