/** Bringing existing users in. */
import { type Operation, operation } from '../../http/operation.ts';
import { ImportInput, ImportResult, UsernameCheck, UsernameCheckInput } from './model.ts';
import type { Import } from './service.ts';

export function importRoutes(imports: Import): Operation[] {
  const common = { tag: 'Users', method: 'POST', access: 'full', scope: 'application', limit: 'key' } as const;
  return [
    operation({
      ...common,
      id: 'importUsers',
      path: '/api/applications/:id/users/bulk',
      summary: 'Import up to 500 users',
      gives: { words: 'They can sign in, with the roles, scopes and groups of their rows.' },
      description:
        'Idempotent, an outcome for each row: one that is wrong, in whatever field, is `skipped` with its `error`, and the others are taken. Fills blanks and never overwrites; adds grants and never removes; sends no mail. Somebody who is, or was, a member of an application of this workspace is `linked`. Anybody else is `created`, whether or not they have an account with another workspace: their grants, username and profile wait for them until they first sign in to this workspace; until then they are shown as imported. The id is theirs from the start and does not change. Only a body that is not `{users: […]}`, or has more than 500 rows, is refused as a whole.',
      body: ImportInput,
      data: ImportResult,
      handle: ({ actor, application, body }) => imports.importUsers(actor, application, body.users),
    }),
    operation({
      ...common,
      id: 'checkUsernames',
      path: '/api/applications/:id/usernames/check',
      summary: 'Check up to 500 usernames; writes nothing',
      body: UsernameCheckInput,
      data: UsernameCheck,
      handle: ({ application, body }) => imports.checkUsernames(application, body.usernames),
    }),
  ];
}
