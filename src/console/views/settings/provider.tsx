/** Identity provider of an application: its own client, or the one it inherits. */
import { api, ask, type Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { Copyable } from '../../components/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Panel } from '../../components/panel.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { ProviderForm } from './provider-form.tsx';

type IdentityProvider = Schemas['IdentityProvider'];

interface ProviderProps extends ApplicationViewProps {
  readonly provider: IdentityProvider | null;
  readonly onChanged: (provider: IdentityProvider) => void;
}

const LEADS = {
  application: 'This application has its own client.',
  instance: 'The server’s provider, used by every application without one of its own.',
  none: 'There is none: neither the server nor this application has a client.',
};

export function Provider({ application, provider, onChanged }: ProviderProps) {
  const setup = useDialog(
    () => provider && <ProviderForm application={application} provider={provider} onDone={onChanged} />,
  );
  const removal = useDialog(() => (
    <FormDialog
      id="remove-provider-dialog"
      title="Remove this provider?"
      lead={`Nobody signs in to ${application.name} through it any more. If the server has a provider of its own, that one is used instead.`}
      submitText="Remove provider"
      isDanger
      send={() =>
        ask(api.DELETE('/api/applications/{id}/identity-provider', { params: { path: { id: application.id } } }))
      }
      onDone={onChanged}
    />
  ));
  if (!provider) return <div class="panel skeleton-panel" aria-busy="true" />;
  const { source, name, issuer, clientId, speaksFor, redirectUri } = provider;
  const isOwn = source === 'application';
  return (
    <Panel
      id="provider-panel"
      title="Identity provider"
      lead={LEADS[source ?? 'none']}
      action={
        <div class="page-actions">
          {isOwn && (
            <Action id="remove-provider" look="danger" onClick={removal.open}>
              Remove
            </Action>
          )}
          <Action id="set-provider" onClick={setup.open}>
            {isOwn ? 'Edit provider' : 'Set up a provider'}
          </Action>
        </div>
      }
    >
      <Facts
        of={[
          ['Button', name && `Continue with ${name}`],
          ['Issuer', issuer && <code>{issuer}</code>],
          ['Client ID', clientId && <code>{clientId}</code>],
          ['Secret', source && <span class="muted">Set, and never shown</span>],
          [
            'Trusted for',
            speaksFor === 'workspace'
              ? 'New people, and people who belong to this workspace only. Others sign in by another method once, then connect it in their account.'
              : speaksFor && 'Everyone',
          ],
          ['Redirect address', <Copyable value={redirectUri} label="redirect address" />],
        ]}
      />
      {setup.dialog}
      {removal.dialog}
    </Panel>
  );
}
