/** The address of the link that undoes a change of address: looking shows a button, and the button does it. */

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
import { renderUndonePage, renderUndoPage } from './page.tsx';

export interface UndoPageDependencies {
  readonly emailUndo: {
    isOpen(token: string): Promise<boolean>;
    /** The application that the link was mailed by, also of a spent link; null for a token that never was. */
    applicationOf(token: string): Promise<PageApplication | null>;
    undo(actor: Actor, token: string): Promise<void>;
  };
}

const page = { ...HOSTED_PAGE, path: UNDO_PATH, limit: 'setup' } as const;

/** Mail scanners follow links and press no buttons. */
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
        return pageResponse(context, renderUndoPage({ locale: localeOf(context), path: UNDO_PATH, token }), 'form');
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
        return pageResponse(context, renderUndonePage(localeOf(context)));
      },
    }),
  ];
}
