/** Name, ids, client secret and default roles of an application. */
import type { Outcome } from '../../api.ts';
import { Copyable } from '../../components/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { Panel } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { ClientSecret } from './client-secret.tsx';
import { DefaultRoles } from './default-roles.tsx';
import { SettingsForm } from './settings-form.tsx';
import { useApplicationPatch } from './use-application-patch.ts';
import { useDraft } from './use-draft.ts';

export function General({ application }: ApplicationViewProps) {
  return (
    <div class="settings-parts">
      <Names application={application} />
      <Ids application={application} />
      <ClientSecret application={application} />
      <DefaultRoles application={application} />
    </div>
  );
}

function Names({ application }: ApplicationViewProps) {
  const patch = useApplicationPatch(application);
  const { name, slug } = application;
  const draft = useDraft({ name, slug }, async (changed) => underSlug(await patch(changed)));
  return (
    <Panel title="Name">
      <SettingsForm
        id="names"
        draft={draft}
        fields={[
          {
            kind: 'text',
            id: 'application-name',
            name: 'name',
            label: 'Name',
            maxLength: 100,
            hint: 'People see it on the sign-in page and in every mail.',
          },
          {
            kind: 'identifier',
            id: 'application-slug',
            name: 'slug',
            label: 'Slug',
            hint: (
              <>
                Part of the address of every picture: <code>/{draft.values.slug || '…'}/users/</code>. Addresses with
                the previous slug keep working, and it stays reserved for this application. Anything you have built on
                it yourself does not follow.
              </>
            ),
          },
        ]}
      />
    </Panel>
  );
}

/** Assigns a conflict to the slug field: names need not be unique. */
function underSlug<T>(outcome: Outcome<T>): Outcome<T> {
  if (outcome.ok || outcome.code !== 'conflict') return outcome;
  return { ...outcome, fields: [{ path: 'slug', message: outcome.message }] };
}

function Ids({ application }: ApplicationViewProps) {
  return (
    <Panel title="Identifiers" lead="They are not secret, and never change.">
      <Facts
        of={[
          [
            'Application ID',
            <>
              <Copyable value={application.id} label="application ID" />
              <span class="fine">
                For managing it: <code>/api/applications/{'{id}'}/…</code>
              </span>
            </>,
          ],
          [
            'Client ID',
            <>
              <Copyable value={application.clientId} label="client ID" />
              <span class="fine">
                For signing in: <code>/sign-in?clientId=…</code>, and every call of your frontend.
              </span>
            </>,
          ],
          ['Created', <Time at={application.createdAt} />],
          ['Changed', <Time at={application.updatedAt} />],
        ]}
      />
    </Panel>
  );
}
