/** Routes of the link that undoes an address change: GET shows a button, POST carries it out. */

import { Type } from '@sinclair/typebox';
import type { Actor } from '../../core/actor.ts';
import { AppError } from '../../core/error.ts';
import { UNDO_PATH } from '../../core/undo-path.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { pageResponse } from '../../http/page-response.ts';
import type { PageApplication } from '../../http/request-context.ts';
import { queryOf } from '../../http/request-url.ts';
import { Input } from '../../http/schemas.ts';
import { HOSTED_PAGE } from '../hosted-page.ts';
import { localeOf } from '../page-locale.ts';
import { ownAddress } from '../sign-in/sign-in-data.ts';
import { renderUndonePage, renderUndoPage } from './page.tsx';

export interface UndoPageDependencies {
  readonly emailUndo: {
    isOpen(token: string): Promise<boolean>;
    /** Returns the application that mailed the link, even if used; null for an unknown token. */
    applicationOf(token: string): Promise<PageApplication | null>;
    undo(actor: Actor, token: string): Promise<void>;
  };
}

const page = { ...HOSTED_PAGE, path: UNDO_PATH, limit: 'setup' } as const;

/** GET changes nothing, because mail scanners follow links. */
export function undoPageRoutes({ emailUndo }: UndoPageDependencies): Operation[] {
  return [
    operation({
      ...page,
      id: 'undoEmailChangePage',
      method: 'GET',
      summary: 'The page behind the link that undoes a change of address; 404 without a valid token',
      async handle({ context }) {
        const token = queryOf(context.request).get('token') ?? '';
        context.application = await emailUndo.applicationOf(token);
        if (!(await emailUndo.isOpen(token))) throw new AppError('not_found', { hint: 'undo_link_spent' });
        const { application, request } = context;
        const asked = queryOf(request).get('locale');
        // The form's answer is in the language that this page was switched to.
        const action = asked === null ? UNDO_PATH : ownAddress(UNDO_PATH, { locale: asked });
        return pageResponse(context, renderUndoPage({ locale: localeOf(context), application, action, token }), 'form');
      },
    }),
    operation({
      ...page,
      id: 'undoEmailChange',
      method: 'POST',
      summary: 'Undo a change of address, by the link that the old one was mailed',
      body: Input({ token: Type.String({ maxLength: 200, remedy: 'Give the token of the link.' }) }),
      isFormAccepted: true,
      async handle({ actor, body, context }) {
        context.application = await emailUndo.applicationOf(body.token);
        await emailUndo.undo(actor, body.token);
        const { application } = context;
        return pageResponse(context, renderUndonePage({ locale: localeOf(context), application }));
      },
    }),
  ];
}
