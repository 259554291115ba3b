/** Routes of bulk import. */
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
        'Idempotent, with an outcome for each row; a wrong row is `skipped` with its `error`. Fills blanks, adds grants, never overwrites or removes, sends no mail. `linked`: a member of an application of this workspace, now or once. `created`: anybody else, known to the server or not; their grants, username and profile wait until they first sign in to this workspace. Their id never changes. Only a body that is not `{users: […]}`, or has over 500 rows, is refused as a whole.',
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
