/** Form of an application's OpenID client: where people are sent, and how the client proves who it is. */
import type { Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { Panel } from '../../components/panel.tsx';
import { Status } from '../../components/status.tsx';
import { SettingsForm } from './settings-form.tsx';
import type { Draft } from './use-draft.ts';

type OpenIdSettings = Schemas['OpenIdSettings'];

/** Lists are edited as text, one address per line. */
export interface ClientValues {
  readonly redirectUris: string;
  readonly postLogoutRedirectUris: string;
  readonly clientType: OpenIdSettings['clientType'];
  readonly idTokenAlg: OpenIdSettings['idTokenAlg'];
  readonly backchannelLogoutUri: string;
}

interface OpenIdClientFormProps {
  readonly draft: Draft<ClientValues>;
  readonly settings: OpenIdSettings;
  /** Ends the quarantine of the back-channel logout URI. */
  readonly onResume: () => Promise<void>;
}

const MIN_ROWS = 3;

const rowsFor = (text: string) => Math.max(MIN_ROWS, text.split('\n').length + 1);

export function OpenIdClientForm({ draft, settings, onResume }: OpenIdClientFormProps) {
  const { redirectUris, postLogoutRedirectUris } = draft.values;
  return (
    <Panel
      id="openid-client"
      title="Client"
      lead={
        settings.updatedAt === null
          ? 'OpenID Connect is off for this application until a redirect URI is saved.'
          : 'PKCE with S256 is required of every client.'
      }
    >
      <SettingsForm
        id="openid"
        draft={draft}
        fields={[
          {
            kind: 'textarea',
            id: 'openid-redirect-uris',
            name: 'redirectUris',
            label: 'Redirect URIs, one per line',
            rows: rowsFor(redirectUris),
            placeholder: 'https://wiki.example.com/oidc/callback',
            hint: 'Where people come back with a code. Compared character for character: unlike return URLs, an address does not allow what is below it.',
          },
          {
            kind: 'textarea',
            id: 'openid-post-logout',
            name: 'postLogoutRedirectUris',
            label: 'Post-logout redirect URIs, one per line',
            rows: rowsFor(postLogoutRedirectUris),
            placeholder: 'https://wiki.example.com/',
            hint: 'Where a product may send people after they have signed out. Optional.',
          },
          {
            kind: 'choice',
            id: 'openid-client-type',
            name: 'clientType',
            label: 'Client type',
            choices: [
              {
                value: 'confidential',
                label: 'Confidential',
                detail: 'A server, which keeps a secret and proves itself with it.',
              },
              {
                value: 'public',
                label: 'Public',
                detail:
                  'An app in a browser, on a phone or a desktop, which cannot keep a secret. PKCE alone protects it.',
              },
            ],
          },
          {
            kind: 'choice',
            id: 'openid-algorithm',
            name: 'idTokenAlg',
            label: 'Signature of ID tokens',
            choices: [
              { value: 'RS256', label: 'RS256', detail: 'Every product verifies it.' },
              {
                value: 'EdDSA',
                label: 'EdDSA',
                detail: 'Shorter and faster, for products that say they verify Ed25519.',
              },
            ],
          },
          {
            kind: 'url',
            id: 'openid-backchannel',
            name: 'backchannelLogoutUri',
            label: 'Back-channel logout URI',
            placeholder: 'https://wiki.example.com/backchannel-logout',
            hint: <BackchannelHint settings={settings} typed={draft.values.backchannelLogoutUri} onResume={onResume} />,
          },
        ]}
      />
    </Panel>
  );
}

interface BackchannelHintProps extends Omit<OpenIdClientFormProps, 'draft'> {
  readonly typed: string;
}

function BackchannelHint({ settings, typed, onResume }: BackchannelHintProps) {
  const { backchannelLogoutUri, backchannelStatus } = settings;
  const isSaved = backchannelLogoutUri !== null && typed === backchannelLogoutUri;
  return (
    <>
      Is called when a session ends here: signed out, revoked or banned. Optional. A private address needs{' '}
      <code>GATEHOUSE_ALLOW_CIDRS</code> of the server.
      {isSaved && backchannelStatus === 'active' && (
        <span class="openid-status" id="openid-backchannel-status">
          <Status tone="good">Calls are sent</Status>
        </span>
      )}
      {isSaved && backchannelStatus === 'quarantined' && (
        <span class="openid-status" id="openid-backchannel-status">
          <Status tone="bad">In quarantine, because calls kept failing</Status>
          <Action id="resume-backchannel" onClick={onResume}>
            Send them again
          </Action>
        </span>
      )}
    </>
  );
}
