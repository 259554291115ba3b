import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { api, ask } from '../../api.ts';
import { FailureNote } from '../../components/failure-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { useLoaded } from '../../data.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { SettingsForm } from './settings-form.tsx';
import { useApplicationPatch } from './use-application-patch.ts';
import { useDraft } from './use-draft.ts';

const LIMIT = 200;

export function DefaultRoles({ application }: ApplicationViewProps) {
  const path = { id: application.id };
  const roles = useLoaded(
    () => ask(api.GET('/api/applications/{id}/roles', { params: { path, query: { limit: LIMIT } } })),
    [application.id],
  );
  const patch = useApplicationPatch(application);
  const draft = useDraft({ defaultRoles: application.defaultRoles.toSorted() }, patch);
  return (
    <Panel
      title="Default roles"
      lead={
        <>
          Roles that new users get when they join. Existing users keep theirs.{' '}
          <Link href={addresses.application(application.id, 'roles')}>Manage roles</Link>
        </>
      }
    >
      {roles.failure && <FailureNote failure={roles.failure} onRetry={roles.reload} />}
      {!roles.data && !roles.failure && <div class="skeleton" aria-busy="true" />}
      {roles.data && (
        <SettingsForm
          id="default-roles"
          draft={draft}
          fields={[
            {
              kind: 'choices',
              id: 'default-roles-list',
              name: 'defaultRoles',
              label: 'Given to new users',
              choices: roles.data.items.map(({ slug, name }) => ({
                value: slug,
                label: <span dir="auto">{name}</span>,
                detail: <code>{slug}</code>,
              })),
              none: 'There are no roles yet.',
              clean: (chosen) => chosen.toSorted(),
            },
          ]}
        />
      )}
    </Panel>
  );
}
