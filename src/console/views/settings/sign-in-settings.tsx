/** Sign-in settings: methods, provider and session lifetime. */
import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { api, ask, type Schemas } from '../../api.ts';
import type { Choice } from '../../components/choices.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { useLoaded } from '../../data.ts';
import { useConsole } from '../../console-context.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { useHealth } from '../health/use-health.ts';
import { Provider } from './provider.tsx';
import { SessionLifetime } from './session-lifetime.tsx';
import { SettingsForm } from './settings-form.tsx';
import { useApplicationPatch } from './use-application-patch.ts';
import { useDraft } from './use-draft.ts';

type Method = Schemas['SignInMethod'];

/** Order of the sign-in page and of the saved list. */
const ORDER: readonly Method[] = ['otp', 'passkey', 'provider'];

export function SignInSettings({ application }: ApplicationViewProps) {
  const provider = useLoaded(
    () => ask(api.GET('/api/applications/{id}/identity-provider', { params: { path: { id: application.id } } })),
    [application.id],
  );
  return (
    <div class="settings-parts">
      <Methods application={application} provider={provider.data} />
      {provider.failure ? (
        <FailureNote failure={provider.failure} onRetry={provider.reload} />
      ) : (
        <Provider application={application} provider={provider.data} onChanged={provider.set} />
      )}
      <SessionLifetime application={application} />
    </div>
  );
}

interface MethodsProps extends ApplicationViewProps {
  readonly provider: Schemas['IdentityProvider'] | null;
}

function Methods({ application, provider }: MethodsProps) {
  const patch = useApplicationPatch(application);
  const draft = useDraft({ signinMethods: inOrder(application.signinMethods) }, patch);
  const choices: readonly Choice<Method>[] = [
    { value: 'otp', label: 'Code by e-mail', detail: <MailNeed /> },
    { value: 'passkey', label: 'Passkey', detail: <PasskeyNeed /> },
    { value: 'provider', label: 'Identity provider', detail: <ProviderNeed provider={provider} /> },
  ];
  return (
    <Panel
      title="Methods"
      lead="Methods that the sign-in page offers; at least one. People whose only method you remove can no longer sign in."
    >
      <SettingsForm
        id="methods"
        draft={draft}
        fields={[
          {
            kind: 'choices',
            id: 'methods-list',
            name: 'signinMethods',
            label: 'People sign in with',
            choices,
            clean: inOrder,
          },
        ]}
      />
    </Panel>
  );
}

const inOrder = (methods: readonly string[]): Method[] => ORDER.filter((method) => methods.includes(method));

function MailNeed() {
  const { workspace } = useConsole();
  const health = useHealth();
  const mail = health.data?.mail;
  if (mail?.transport === 'smtp') return <>Six digits, valid for a few minutes. Mail is sent by {mail.server}.</>;
  if (!mail) return <>Six digits, valid for a few minutes. Needs a mail server.</>;
  return (
    <>
      Six digits, valid for a few minutes. There is no mail server here: codes stay in the{' '}
      <Link href={addresses.workspace(workspace.id, 'outbox')}>outbox</Link>.
    </>
  );
}

function PasskeyNeed() {
  const { hostname } = location;
  const isName = !/^[\d.]+$|^\[/.test(hostname) || hostname === '127.0.0.1';
  if (!isName)
    return <>Needs a host name: this server is reached by an IP address, for which no browser creates passkeys.</>;
  return <>Fingerprint, face or screen lock. People create one after their first sign-in, for this host only.</>;
}

function ProviderNeed({ provider }: Pick<MethodsProps, 'provider'>) {
  if (!provider) return <>An account that people have with another service.</>;
  if (provider.source === null)
    return (
      <>
        An account that people have with another service. Needs a provider: until one is set up below, no button is
        shown.
      </>
    );
  return <>An account that people have with another service: “Continue with {provider.name}”.</>;
}
