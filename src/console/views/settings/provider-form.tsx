/** Form for an application's own OpenID Connect client. */
import { api, ask, type Schemas } from '../../api.ts';
import { Copyable } from '../../components/copy.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useForm } from '../../components/use-form.ts';
import type { ApplicationViewProps } from '../../application-view.ts';

type IdentityProvider = Schemas['IdentityProvider'];

interface ProviderFormProps extends ApplicationViewProps {
  readonly provider: IdentityProvider;
  readonly onDone: (provider: IdentityProvider) => unknown;
}

const GOOGLE = 'https://accounts.google.com';

export function ProviderForm({ application, provider, onDone }: ProviderFormProps) {
  const own = provider.source === 'application' ? provider : null;
  const form = useForm({
    kind: own === null || own.issuer === GOOGLE ? ('google' as const) : ('other' as 'google' | 'other'),
    issuer: own && own.issuer !== GOOGLE ? (own.issuer ?? '') : '',
    name: own?.name ?? '',
    clientId: own?.clientId ?? '',
    clientSecret: '',
  });
  const { kind, issuer, name, clientId, clientSecret } = form.values;
  const isGoogle = kind === 'google';
  const body = {
    issuer: isGoogle ? GOOGLE : issuer.trim(),
    name: isGoogle ? null : name.trim() || null,
    clientId: clientId.trim(),
    clientSecret: clientSecret.trim(),
  };
  const params = { path: { id: application.id } };
  return (
    <FormDialog
      id="provider-form"
      title="Identity provider"
      lead="Create a client there with this redirect address, then enter what it gives you."
      submitText="Save provider"
      form={form}
      fields={[
        <p class="form-fact">
          <Copyable value={provider.redirectUri} label="redirect address" />
        </p>,
        {
          kind: 'choice',
          id: 'provider-kind',
          name: 'kind',
          label: 'Provider',
          choices: [
            { value: 'google', label: 'Google' },
            { value: 'other', label: 'Another OpenID Connect provider', detail: 'Entra ID, Okta, Keycloak, your own' },
          ],
        },
        !isGoogle && {
          kind: 'url',
          id: 'provider-issuer',
          name: 'issuer',
          label: 'Issuer',
          placeholder: 'https://login.example.com',
          hint: 'As in its discovery document, which is read when somebody first signs in through it.',
        },
        !isGoogle && {
          kind: 'text',
          id: 'provider-name',
          name: 'name',
          label: 'Name on the button',
          maxLength: 100,
          hint: '“Continue with …”. The host of the issuer if left empty.',
        },
        { kind: 'identifier', id: 'provider-client-id', name: 'clientId', label: 'Client ID' },
        {
          kind: 'password',
          id: 'provider-client-secret',
          name: 'clientSecret',
          label: 'Client secret',
          hint: own
            ? 'Enter it again: the one that is set is never shown.'
            : 'Stored encrypted, and never shown again.',
        },
      ]}
      send={() => ask(api.PUT('/api/applications/{id}/identity-provider', { params, body }))}
      onDone={onDone}
    />
  );
}
