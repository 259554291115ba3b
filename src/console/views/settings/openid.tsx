/** OpenID settings of an application: values to copy, its client, and the settings of products that use it. */
import { Link } from 'wouter-preact';
import { LinkButton } from '../../../pages/components/button.tsx';
import { addresses } from '../../address.ts';
import { api, ask, type BodyOf, type Outcome, type Schemas } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { Copyable } from '../../components/copy.tsx';
import { type Fact, Facts } from '../../components/facts.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Panel } from '../../components/panel.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { useLoaded } from '../../data.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { OpenIdClientForm, type ClientValues } from './openid-client.tsx';
import { OpenIdProducts } from './openid-products.tsx';
import { TRIAL_PATH } from './openid-trial.ts';
import { linesOf, nameEntries } from './uri-lines.ts';
import { useDraft } from './use-draft.ts';

type OpenIdSettings = Schemas['OpenIdSettings'];

export function OpenId({ application }: ApplicationViewProps) {
  const params = { path: { id: application.id } };
  const loaded = useLoaded(() => ask(api.GET('/api/applications/{id}/openid', { params })), [application.id]);
  const { data, failure } = loaded;
  if (failure && !data) return <FailureNote failure={failure} onRetry={loaded.reload} />;
  if (!data) return <div class="panel skeleton-panel" aria-busy="true" />;
  return <Loaded application={application} settings={data} onChanged={loaded.set} />;
}

interface LoadedProps extends ApplicationViewProps {
  readonly settings: OpenIdSettings;
  readonly onChanged: (settings: OpenIdSettings) => void;
}

function Loaded({ application, settings, onChanged }: LoadedProps) {
  const report = useReport();
  async function put(body: BodyOf<'setOpenId'>): Promise<Outcome<OpenIdSettings>> {
    const { redirectUris, postLogoutRedirectUris = [] } = body;
    const outcome = await ask(
      api.PUT('/api/applications/{id}/openid', { params: { path: { id: application.id } }, body }),
    );
    if (outcome.ok) onChanged(outcome.data);
    return nameEntries(outcome, { redirectUris, postLogoutRedirectUris });
  }
  const draft = useDraft(valuesOf(settings), (changed) => put(bodyOf(changed, settings)));
  const redirectUris = linesOf(draft.values.redirectUris);
  return (
    <div class="settings-parts">
      <Values application={application} settings={settings} onChanged={onChanged} />
      <OpenIdClientForm
        draft={draft}
        settings={settings}
        onResume={async () => {
          // Setting the same address ends the quarantine.
          const { redirectUris, backchannelLogoutUri } = settings;
          report(await put({ redirectUris, backchannelLogoutUri }), 'Calls are sent again.');
        }}
      />
      <OpenIdProducts
        settings={settings}
        redirectUris={redirectUris}
        onAdd={(added) => draft.set({ redirectUris: [...redirectUris, ...added].join('\n') })}
      />
    </div>
  );
}

function valuesOf(settings: OpenIdSettings): ClientValues {
  const { clientType, idTokenAlg, backchannelLogoutUri } = settings;
  return {
    redirectUris: settings.redirectUris.join('\n'),
    postLogoutRedirectUris: settings.postLogoutRedirectUris.join('\n'),
    clientType,
    idTokenAlg,
    backchannelLogoutUri: backchannelLogoutUri ?? '',
  };
}

/** Returns what has changed. An address that is sent again would end its quarantine. */
function bodyOf(changed: Partial<ClientValues>, settings: OpenIdSettings): BodyOf<'setOpenId'> {
  const { redirectUris, postLogoutRedirectUris, backchannelLogoutUri, ...choices } = changed;
  return {
    redirectUris: redirectUris === undefined ? settings.redirectUris : linesOf(redirectUris),
    ...(postLogoutRedirectUris !== undefined && { postLogoutRedirectUris: linesOf(postLogoutRedirectUris) }),
    ...(backchannelLogoutUri !== undefined && { backchannelLogoutUri: backchannelLogoutUri.trim() || null }),
    ...choices,
    // A public client has no key to sign with.
    ...(choices.clientType === 'public' && { jwks: null }),
  };
}

function Values({ application, settings, onChanged }: LoadedProps) {
  const { issuer, clientId, endpoints, updatedAt } = settings;
  const ending = useDialog(() => (
    <FormDialog
      id="end-openid-dialog"
      title="Switch OpenID off?"
      lead={`Nobody signs in to ${application.name} by OpenID Connect any more, and those who did are signed out. Its settings here are lost; the client secret stays.`}
      submitText="Switch off"
      isDanger
      send={() => ask(api.DELETE('/api/applications/{id}/openid', { params: { path: { id: application.id } } }))}
      onDone={onChanged}
    />
  ));
  return (
    <Panel
      title="OpenID Connect"
      lead={
        <>
          Products and backends that speak OpenID Connect sign their people in with this application. The{' '}
          <a class="link" href="/docs/guides/openid" target="_blank" rel="noreferrer">
            guide
          </a>{' '}
          says how.
        </>
      }
      action={
        updatedAt !== null && (
          <div class="page-actions">
            <Action id="end-openid" look="danger" onClick={ending.open}>
              Switch off
            </Action>
            <LinkButton
              id="try-openid"
              look="small"
              href={`${issuer}/console${TRIAL_PATH}?application=${application.id}`}
              isNewTab
            >
              Try it
            </LinkButton>
          </div>
        )
      }
    >
      <Facts
        of={[
          copied('Issuer', issuer),
          copied('Discovery', endpoints.discovery),
          copied('Client ID', clientId),
          ['Client secret', <SecretState application={application} settings={settings} />],
        ]}
      />
      <details class="openid-endpoints" id="openid-endpoints">
        <summary>Endpoints, for products that do not read the discovery document</summary>
        <Facts
          of={[
            copied('Authorization', endpoints.authorization),
            copied('Token', endpoints.token),
            copied('UserInfo', endpoints.userinfo),
            copied('Keys', endpoints.jwks),
            copied('Sign-out', endpoints.endSession),
          ]}
        />
      </details>
      {ending.dialog}
    </Panel>
  );
}

const copied = (name: string, value: string): Fact => [name, <Copyable value={value} label={name.toLowerCase()} />];

function SecretState({ application, settings: { clientType, hasSecret, jwks } }: Omit<LoadedProps, 'onChanged'>) {
  if (clientType === 'public') return <>Not used: the client is public</>;
  if (jwks) return <>Not needed: the client signs its assertions with a key of its own</>;
  const { clientSecretPrefix: prefix } = application;
  const general = addresses.application(application.id, 'settings', 'general');
  return hasSecret ? (
    <>
      Begins with <code>{prefix}</code>. It was shown once; <Link href={general}>rotate it</Link> if it is lost.
    </>
  ) : (
    <>
      There is none yet. <Link href={general}>Create one</Link> under General.
    </>
  );
}
