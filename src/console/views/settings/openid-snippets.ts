/** Settings of well-known products that sign people in through this server, from the documentation of each. */

/** Values of the application that the snippets contain. */
export interface OpenIdFilling {
  readonly issuer: string;
  readonly clientId: string;
}

export interface Product {
  readonly name: string;
  /** Page of the product's own documentation. */
  readonly docs: string;
  readonly redirectUris: readonly string[];
  /** File or page of the product that takes the settings. */
  readonly place: string;
  readonly settings: SettingsBlock | SettingsValues;
  /** Sentences on what else it needs to work. */
  readonly note?: string;
}

/** Text for a file or a shell. */
interface SettingsBlock {
  readonly language: 'env' | 'ini' | 'yaml' | 'sh' | 'toml' | 'apache' | 'py';
  readonly code: string;
}

type Labelled = readonly [label: string, value: string];

/** Values for fields of a form, by their labels. */
interface SettingsValues {
  readonly values: readonly Labelled[];
  /** Fields that are chosen or ticked instead of typed. */
  readonly choices: readonly Labelled[];
}

/** Stands for the client secret, which the server does not store. */
const SECRET = 'ecs_…';

/** Name of this server within a product, which is part of some redirect URIs. */
const PROVIDER = 'gatehouse';

const SCOPES = 'openid profile email';

/** Addresses that stand for a product's until the reader gives one. */
const EXAMPLE_HOSTS: Readonly<Record<string, string>> = {
  Audiobookshelf: 'books.example.com',
  Authlib: 'app.example.com',
  BookStack: 'wiki.example.com',
  Forgejo: 'git.example.com',
  Grafana: 'grafana.example.com',
  Headscale: 'headscale.example.com',
  'Home Assistant': 'home.example.com',
  Immich: 'photos.example.com',
  Jellyfin: 'jellyfin.example.com',
  Mealie: 'mealie.example.com',
  Miniflux: 'reader.example.com',
  mod_auth_openidc: 'www.example.com',
  Nextcloud: 'cloud.example.com',
  'oauth2-proxy': 'tools.example.com',
  'Open WebUI': 'chat.example.com',
  Outline: 'docs.example.com',
  'Paperless-ngx': 'paperless.example.com',
  'Proxmox VE': 'pve.example.com:8006',
  Traefik: 'service.example.com',
  Vaultwarden: 'vault.example.com',
};

export const PRODUCT_NAMES: readonly string[] = Object.keys(EXAMPLE_HOSTS);

/** Returns the address that a product's snippet shows while the reader has given none. */
export function exampleAddress(name: string): string {
  return `https://${EXAMPLE_HOSTS[name] ?? 'app.example.com'}`;
}

/**
 * Returns a typed address without its trailing slash. Returns null for text that is no address, and for characters
 * that would end a string in a settings file.
 */
export function productAddress(text: string): string | null {
  const typed = text.trim().replace(/\/+$/, '');
  return /^https?:\/\/[\w.:[\]-]+(?:\/[\w./~-]*)?$/i.test(typed) && URL.canParse(typed) ? typed : null;
}

/** @param at the product's address, without a trailing slash. */
export function productOf(name: string, at: string, { issuer, clientId }: OpenIdFilling): Product | undefined {
  const discovery = `${issuer}/.well-known/openid-configuration`;
  const products: Readonly<Record<string, () => Omit<Product, 'name'>>> = {
    Audiobookshelf: () => ({
      docs: 'https://www.audiobookshelf.org/guides/oidc_authentication/',
      redirectUris: [`${at}/auth/openid/callback`, `${at}/auth/openid/mobile-redirect`],
      place: 'Settings, Authentication',
      settings: {
        values: [
          ['Issuer URL', issuer],
          ['Client ID', clientId],
          ['Client Secret', SECRET],
        ],
        choices: [
          ['Signing Algorithm', 'RS256'],
          ['Match existing users by', 'Email'],
        ],
      },
      note: 'Press Auto-populate after entering the issuer. “Subfolder for Redirect URLs” must be None.',
    }),
    Authlib: () => ({
      docs: 'https://docs.authlib.org/en/latest/oauth2/client/web/index.html',
      redirectUris: [`${at}/auth`],
      place: 'A Flask, Django or FastAPI application',
      settings: {
        language: 'py',
        code: `oauth.register(
    "${PROVIDER}",
    client_id="${clientId}",
    client_secret="${SECRET}",
    server_metadata_url="${discovery}",
    client_kwargs={"scope": "${SCOPES}", "code_challenge_method": "S256"},
)`,
      },
      note: 'The redirect URI is the address that you pass to authorize_redirect.',
    }),
    BookStack: () => ({
      docs: 'https://www.bookstackapp.com/docs/admin/oidc-auth/',
      redirectUris: [`${at}/oidc/callback`],
      place: '.env',
      settings: {
        language: 'env',
        code: `AUTH_METHOD=oidc
OIDC_NAME=Gatehouse
OIDC_DISPLAY_NAME_CLAIMS=name
OIDC_CLIENT_ID=${clientId}
OIDC_CLIENT_SECRET=${SECRET}
OIDC_ISSUER=${issuer}
OIDC_ISSUER_DISCOVER=true
OIDC_END_SESSION_ENDPOINT=true`,
      },
      note: `To send people back after signing out, add ${at} to the post-logout redirect URIs.`,
    }),
    Forgejo: () => ({
      docs: 'https://forgejo.org/docs/latest/admin/command-line/',
      redirectUris: [`${at}/user/oauth2/${PROVIDER}/callback`],
      place: 'A shell of the Forgejo server',
      settings: {
        language: 'sh',
        code: `forgejo admin auth add-oauth --provider=openidConnect --name=${PROVIDER} \\
  --key=${clientId} --secret=${SECRET} \\
  --auto-discover-url=${discovery} \\
  --scopes=email --scopes=profile`,
      },
      note: 'Gitea has the same settings but sends no PKCE, so it is refused.',
    }),
    Grafana: () => ({
      docs: 'https://grafana.com/docs/grafana/latest/setup-grafana/configure-access/configure-authentication/generic-oauth/',
      redirectUris: [`${at}/login/generic_oauth`],
      place: 'grafana.ini',
      settings: {
        language: 'ini',
        code: `[server]
root_url = ${at}

[auth.generic_oauth]
enabled = true
name = Gatehouse
client_id = ${clientId}
client_secret = ${SECRET}
scopes = ${SCOPES}
auth_url = ${issuer}/oauth/authorize
token_url = ${issuer}/oauth/token
api_url = ${issuer}/oauth/userinfo
use_pkce = true
login_attribute_path = email
role_attribute_path = contains(roles[*], 'developer') && 'Editor' || 'Viewer'`,
      },
      note: 'The last line gives Grafana’s Editor role to everybody with the role developer here.',
    }),
    Headscale: () => ({
      docs: 'https://headscale.net/stable/ref/oidc/',
      redirectUris: [`${at}/oidc/callback`],
      place: 'config.yaml',
      settings: {
        language: 'yaml',
        code: `oidc:
  issuer: '${issuer}'
  client_id: '${clientId}'
  client_secret: '${SECRET}'
  scope: ['openid', 'profile', 'email']
  pkce:
    enabled: true
    method: 'S256'`,
      },
    }),
    'Home Assistant': () => ({
      docs: 'https://github.com/christiaangoossens/hass-oidc-auth/blob/main/docs/configuration.md',
      redirectUris: [`${at}/auth/oidc/callback`],
      place: 'configuration.yaml, with the integration “OpenID Connect” of HACS',
      settings: {
        language: 'yaml',
        code: `auth_oidc:
  client_id: '${clientId}'
  client_secret: '${SECRET}'
  discovery_url: '${discovery}'
  display_name: 'Gatehouse'`,
      },
      note: 'A public client works too: then leave out client_secret.',
    }),
    Immich: () => ({
      docs: 'https://docs.immich.app/administration/oauth',
      redirectUris: [`${at}/auth/login`, `${at}/user-settings`, 'app.immich:///oauth-callback'],
      place: 'Administration, Settings, Authentication, OAuth',
      settings: {
        values: [
          ['Issuer URL', issuer],
          ['Client ID', clientId],
          ['Client secret', SECRET],
          ['Scope', SCOPES],
        ],
        choices: [['ID token signed response algorithm', 'RS256']],
      },
      note: `The third redirect URI is for the mobile apps. Back-channel logout: ${at}/api/oauth/backchannel-logout.`,
    }),
    Jellyfin: () => ({
      docs: 'https://github.com/9p4/jellyfin-plugin-sso',
      redirectUris: [`${at}/sso/OID/redirect/${PROVIDER}`],
      place: 'Dashboard, Plugins, SSO-Auth',
      settings: {
        values: [
          ['Name of OID Provider', PROVIDER],
          ['OID Endpoint', issuer],
          ['OpenID Client ID', clientId],
          ['OID Secret', SECRET],
          ['Role Claim', 'roles'],
          ['Request Additional Scopes', 'email'],
          ['Set default username claim', 'email'],
          ['Scheme Override', 'https'],
        ],
        choices: [
          ['Enabled', 'yes'],
          ['Enable Authorization by Plugin', 'yes'],
        ],
      },
      note: `People sign in at ${at}/sso/OID/start/${PROVIDER}.`,
    }),
    Mealie: () => ({
      docs: 'https://docs.mealie.io/documentation/getting-started/authentication/oidc-v2/',
      redirectUris: [`${at}/login`],
      place: 'Environment of the container',
      settings: {
        language: 'env',
        code: `OIDC_AUTH_ENABLED=true
OIDC_SIGNUP_ENABLED=true
OIDC_PROVIDER_NAME=Gatehouse
OIDC_CONFIGURATION_URL=${discovery}
OIDC_CLIENT_ID=${clientId}
OIDC_CLIENT_SECRET=${SECRET}`,
      },
      note: `For signing out, add ${at}/login?direct=1 to the post-logout redirect URIs.`,
    }),
    Miniflux: () => ({
      docs: 'https://miniflux.app/docs/howto.html#oauth2',
      redirectUris: [`${at}/oauth2/oidc/callback`],
      place: 'Environment of the container, or miniflux.conf',
      settings: {
        language: 'env',
        code: `OAUTH2_PROVIDER=oidc
OAUTH2_OIDC_PROVIDER_NAME=Gatehouse
OAUTH2_OIDC_DISCOVERY_ENDPOINT=${issuer}
OAUTH2_CLIENT_ID=${clientId}
OAUTH2_CLIENT_SECRET=${SECRET}
OAUTH2_REDIRECT_URL=${at}/oauth2/oidc/callback
OAUTH2_USER_CREATION=1`,
      },
    }),
    mod_auth_openidc: () => ({
      docs: 'https://github.com/OpenIDC/mod_auth_openidc/blob/master/auth_openidc.conf',
      redirectUris: [`${at}/oidc/redirect`],
      place: 'Configuration of Apache',
      settings: {
        language: 'apache',
        code: `OIDCProviderMetadataURL ${discovery}
OIDCClientID ${clientId}
OIDCClientSecret ${SECRET}
OIDCRedirectURI ${at}/oidc/redirect
OIDCCryptoPassphrase "exec:/usr/bin/openssl rand -hex 32"
OIDCScope "${SCOPES}"
OIDCPKCEMethod S256
OIDCRemoteUserClaim email

<Location />
  AuthType openid-connect
  Require valid-user
</Location>`,
      },
      note: 'The redirect URI needs no content, but must be within the protected location. Give several servers, or sessions that outlive a restart, one fixed passphrase.',
    }),
    Nextcloud: () => ({
      docs: 'https://github.com/nextcloud/user_oidc#readme',
      redirectUris: [`${at}/apps/user_oidc/code`, `${at}/index.php/apps/user_oidc/code`],
      place: 'A shell of the Nextcloud server, with the app user_oidc',
      settings: {
        language: 'sh',
        code: `occ user_oidc:provider ${PROVIDER} \\
  --clientid="${clientId}" \\
  --clientsecret="${SECRET}" \\
  --discoveryuri="${discovery}" \\
  --scope="${SCOPES}"`,
      },
      note: `Back-channel logout: ${at}/index.php/apps/user_oidc/backchannel-logout/${PROVIDER}.`,
    }),
    'oauth2-proxy': () => ({
      docs: 'https://oauth2-proxy.github.io/oauth2-proxy/configuration/providers/openid_connect',
      redirectUris: [`${at}/oauth2/callback`],
      place: 'oauth2-proxy.cfg',
      settings: {
        language: 'toml',
        code: `provider = "oidc"
oidc_issuer_url = "${issuer}"
client_id = "${clientId}"
client_secret = "${SECRET}"
redirect_url = "${at}/oauth2/callback"
scope = "${SCOPES}"
code_challenge_method = "S256"
cookie_secret = "…"
email_domains = ["*"]
upstreams = ["http://127.0.0.1:3000"]`,
      },
      note: 'openssl rand -base64 32 | tr -- "+/" "-_" makes a cookie_secret. Everybody who may sign in to this application gets through.',
    }),
    'Open WebUI': () => ({
      docs: 'https://docs.openwebui.com/features/sso',
      redirectUris: [`${at}/oauth/oidc/callback`],
      place: 'Environment of the container',
      settings: {
        language: 'env',
        code: `WEBUI_URL=${at}
ENABLE_OAUTH_SIGNUP=true
OAUTH_PROVIDER_NAME=Gatehouse
OPENID_PROVIDER_URL=${discovery}
OAUTH_CLIENT_ID=${clientId}
OAUTH_CLIENT_SECRET=${SECRET}
OAUTH_SCOPES=${SCOPES}
OAUTH_CODE_CHALLENGE_METHOD=S256`,
      },
    }),
    Outline: () => ({
      docs: 'https://docs.getoutline.com/s/hosting/doc/oidc-8CPBm6uC0I',
      redirectUris: [`${at}/auth/oidc.callback`],
      place: '.env',
      settings: {
        language: 'env',
        code: `OIDC_ISSUER_URL=${issuer}
OIDC_CLIENT_ID=${clientId}
OIDC_CLIENT_SECRET=${SECRET}
OIDC_DISPLAY_NAME=Gatehouse
OIDC_USERNAME_CLAIM=email
OIDC_SCOPES=${SCOPES}`,
      },
      note: 'Set the issuer instead of OIDC_AUTH_URI and the other endpoints: Outline sends PKCE only if it has read the discovery document.',
    }),
    'Paperless-ngx': () => ({
      docs: 'https://docs.paperless-ngx.com/advanced_usage/#openid-connect-and-social-authentication',
      redirectUris: [`${at}/accounts/oidc/${PROVIDER}/login/callback/`],
      place: 'Environment of the container',
      settings: {
        language: 'env',
        code: `PAPERLESS_APPS=allauth.socialaccount.providers.openid_connect
PAPERLESS_SOCIALACCOUNT_PROVIDERS={"openid_connect":{"SCOPE":["openid","profile","email"],"OAUTH_PKCE_ENABLED":true,"APPS":[{"provider_id":"${PROVIDER}","name":"Gatehouse","client_id":"${clientId}","secret":"${SECRET}","settings":{"server_url":"${issuer}"}}]}}`,
      },
      note: 'The slash at the end of the redirect URI is part of it.',
    }),
    'Proxmox VE': () => ({
      docs: 'https://pve.proxmox.com/wiki/User_Management',
      redirectUris: [at],
      place: 'A shell of a Proxmox VE node',
      settings: {
        language: 'sh',
        code: `pveum realm add ${PROVIDER} --type openid \\
  --issuer-url ${issuer} \\
  --client-id ${clientId} --client-key ${SECRET} \\
  --username-claim email --autocreate 1`,
      },
      note: 'The redirect URI is the address in the browser, with its port and without a slash at the end. Add one for each node.',
    }),
    Traefik: () => ({
      docs: 'https://oauth2-proxy.github.io/oauth2-proxy/configuration/integrations/traefik',
      redirectUris: [`${at}/oauth2/callback`],
      place: 'Dynamic configuration of Traefik, beside an oauth2-proxy',
      settings: {
        language: 'yaml',
        code: `http:
  routers:
    oauth2:
      rule: Host(\`${URL.parse(at)?.host ?? at}\`) && PathPrefix(\`/oauth2/\`)
      service: oauth2-proxy
  middlewares:
    ${PROVIDER}:
      forwardAuth:
        address: 'http://oauth2-proxy:4180/'
        trustForwardHeader: true
  services:
    oauth2-proxy:
      loadBalancer:
        servers:
          - url: 'http://oauth2-proxy:4180'`,
      },
      note: `Set up an oauth2-proxy with reverse_proxy = true, upstreams = ["static://202"] and this redirect URI, and give the router to protect the middleware ${PROVIDER}.`,
    }),
    Vaultwarden: () => ({
      docs: 'https://github.com/dani-garcia/vaultwarden/wiki/Enabling-SSO-support-using-OpenId-Connect',
      redirectUris: [`${at}/identity/connect/oidc-signin`],
      place: 'Environment of the container',
      settings: {
        language: 'env',
        code: `DOMAIN=${at}
SSO_ENABLED=true
SSO_AUTHORITY=${issuer}
SSO_CLIENT_ID=${clientId}
SSO_CLIENT_SECRET=${SECRET}
SSO_SCOPES="email profile offline_access"
SSO_PKCE=true`,
      },
      note: 'People still need a master password: it encrypts their vault.',
    }),
  };
  const found = Object.hasOwn(products, name) ? products[name]?.() : undefined;
  return found && { name, ...found };
}
