/** Form for an application's own OpenID Connect client. */
import { useState } from 'preact/hooks';
import { describedBy, Field, FieldFrame } from '../../../pages/components/field.tsx';
import { api, ask, type Schemas } from '../../api.ts';
import { ChooseOne } from '../../components/choices.tsx';
import { Copyable } from '../../components/copy.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';

type IdentityProvider = Schemas['IdentityProvider'];

interface ProviderFormProps extends ApplicationViewProps {
  readonly provider: IdentityProvider;
  readonly onDone: (provider: IdentityProvider) => void;
  readonly onClose: () => void;
}

const GOOGLE = 'https://accounts.google.com';

export function ProviderForm({ application, provider, onDone, onClose }: ProviderFormProps) {
  const own = provider.source === 'application' ? provider : null;
  const [isGoogle, setIsGoogle] = useState(own === null || own.issuer === GOOGLE);
  const [issuer, setIssuer] = useState(own && own.issuer !== GOOGLE ? (own.issuer ?? '') : '');
  const [name, setName] = useState(own?.name ?? '');
  const [clientId, setClientId] = useState(own?.clientId ?? '');
  const [clientSecret, setClientSecret] = useState('');
  const send = () =>
    ask(
      api.PUT('/api/applications/{id}/identity-provider', {
        params: { path: { id: application.id } },
        body: {
          issuer: isGoogle ? GOOGLE : issuer.trim(),
          name: isGoogle ? null : name.trim() || null,
          clientId: clientId.trim(),
          clientSecret: clientSecret.trim(),
        },
      }),
    );
  return (
    <FormDialog
      id="provider-form"
      title="Identity provider"
      lead="Make a client there with this redirect address, then give what it hands out."
      submitText="Save provider"
      send={send}
      onDone={onDone}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <p class="form-fact">
            <Copyable value={provider.redirectUri} label="redirect address" />
          </p>
          <ChooseOne
            id="provider-kind"
            label="Provider"
            choices={[
              { value: 'google', label: 'Google' },
              {
                value: 'other',
                label: 'Another OpenID Connect provider',
                detail: 'Entra ID, Okta, Keycloak, your own',
              },
            ]}
            chosen={isGoogle ? 'google' : 'other'}
            onChange={(kind) => setIsGoogle(kind === 'google')}
          />
          {!isGoogle && (
            <>
              <Field
                id="provider-issuer"
                label="Issuer"
                placeholder="https://login.example.com"
                autocomplete="off"
                autoCapitalize="none"
                spellcheck={false}
                value={issuer}
                hint="As its discovery document names itself. It is read when somebody first goes there."
                error={errorOf('issuer')}
                onInput={({ currentTarget }) => setIssuer(currentTarget.value)}
              />
              <Field
                id="provider-name"
                label="Name on the button"
                autocomplete="off"
                maxLength={100}
                value={name}
                hint="“Continue with …”. The host of the issuer where it is left empty."
                error={errorOf('name')}
                onInput={({ currentTarget }) => setName(currentTarget.value)}
              />
            </>
          )}
          <Field
            id="provider-client-id"
            label="Client ID"
            autocomplete="off"
            autoCapitalize="none"
            spellcheck={false}
            value={clientId}
            error={errorOf('clientId')}
            onInput={({ currentTarget }) => setClientId(currentTarget.value)}
          />
          <FieldFrame
            id="provider-client-secret"
            label="Client secret"
            hint={own ? 'To be given anew: the one that is set is never shown.' : 'Kept sealed, and never shown again.'}
            error={errorOf('clientSecret')}
          >
            <input
              id="provider-client-secret"
              type="password"
              autocomplete="new-password"
              value={clientSecret}
              aria-describedby={describedBy('provider-client-secret', 'hint')}
              aria-invalid={errorOf('clientSecret') ? 'true' : undefined}
              onInput={({ currentTarget }) => setClientSecret(currentTarget.value)}
            />
          </FieldFrame>
        </>
      )}
    </FormDialog>
  );
}
