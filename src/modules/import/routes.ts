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
        'Idempotent, with an outcome per row; an invalid row is `skipped` with its `error`. Fills blank fields and adds grants; never overwrites, removes or mails. `linked`: a present or former member of an application of this workspace. `created`: everybody else, known to the server or not; their grants, username and profile wait for their first sign-in to this workspace. Their id never changes. Only a body that is not `{users: […]}` or has over 500 rows is refused as a whole.',
      body: ImportInput,
      data: ImportResult,
      handle: ({ actor, application, body }) => imports.importUsers(actor, application, body.users),
    }),
    operation({
      ...common,
      id: 'checkUsernames',
      path: '/api/applications/:id/usernames/check',
      summary: 'Check up to 500 usernames without reserving them',
      body: UsernameCheckInput,
      data: UsernameCheck,
      handle: ({ application, body }) => imports.checkUsernames(application, body.usernames),
    }),
  ];
}
