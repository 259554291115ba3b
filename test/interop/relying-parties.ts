/**
 * Sign-in at relying parties that others wrote and a distribution packages, each behind its real server, in a real
 * browser: `bun run interop`. One that is not installed is named and left out (Debian: apache2,
 * libapache2-mod-auth-openidc, python3-authlib, python3-flask, python3-requests).
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyFolder, eventually, freePort, outboxCode, request, startEphemeral } from '../support/binary.ts';
import { closeBrowser, openBrowserPage } from '../support/browser.ts';

interface Client {
  readonly issuer: string;
  readonly clientId: string;
  readonly secret: string;
  readonly folder: string;
  readonly port: number;
}

interface RelyingParty {
  readonly name: string;
  readonly isInstalled: () => boolean;
  readonly start: (client: Client) => Bun.Subprocess;
  readonly redirectPath: string;
  /** A page that asks for a sign-in, and shows the claims as text. */
  readonly claimsPath: string;
  readonly signOutPath: (origin: string) => string;
  readonly backchannelPath: string | null;
}

/** The distribution's own, whatever else is on the path. */
const PYTHON = '/usr/bin/python3';
const MODULES = '/usr/lib/apache2/modules';

const apache: RelyingParty = {
  name: 'mod_auth_openidc behind Apache',
  isInstalled: () => existsSync(`${MODULES}/mod_auth_openidc.so`),
  redirectPath: '/callback',
  claimsPath: '/callback?info=json',
  signOutPath: (origin) => `/callback?logout=${encodeURIComponent(`${origin}/bye`)}`,
  backchannelPath: '/callback?logout=backchannel',
  start({ issuer, clientId, secret, folder, port }) {
    mkdirSync(join(folder, 'htdocs/protected'), { recursive: true });
    writeFileSync(join(folder, 'htdocs/protected/index.html'), '<h1>Protected</h1>');
    writeFileSync(join(folder, 'htdocs/bye'), 'Bye');
    const modules = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'dir', 'mime', 'auth_openidc'];
    writeFileSync(
      join(folder, 'apache.conf'),
      `ServerRoot ${folder}
ServerName 127.0.0.1
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
User www-data
Group www-data
Listen 127.0.0.1:${port}
${modules.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`).join('\n')}
TypesConfig /etc/mime.types
DocumentRoot ${folder}/htdocs
DirectoryIndex index.html
OIDCProviderMetadataURL ${issuer}/.well-known/openid-configuration
OIDCClientID ${clientId}
OIDCClientSecret ${secret}
OIDCRedirectURI http://127.0.0.1:${port}/callback
OIDCCryptoPassphrase for-this-run-alone
OIDCScope "openid email profile"
OIDCPKCEMethod S256
OIDCCookieSameSite Off
OIDCInfoHook userinfo id_token
OIDCDefaultLoggedOutURL http://127.0.0.1:${port}/bye
<Directory ${folder}/htdocs>
  Require all granted
</Directory>
<Location /protected>
  AuthType openid-connect
  Require valid-user
</Location>
<Location /callback>
  AuthType openid-connect
  Require valid-user
</Location>
`,
    );
    Bun.spawnSync(['chmod', '-R', 'a+rX', folder]);
    return Bun.spawn(['apache2', '-f', join(folder, 'apache.conf'), '-DFOREGROUND'], { stderr: 'inherit' });
  },
};

const authlib: RelyingParty = {
  name: 'Authlib behind Flask',
  isInstalled: () => Bun.spawnSync([PYTHON, '-c', 'import authlib, flask, requests']).exitCode === 0,
  redirectPath: '/callback',
  claimsPath: '/claims',
  signOutPath: () => '/sign-out',
  backchannelPath: null,
  start({ issuer, clientId, secret, folder, port }) {
    writeFileSync(
      join(folder, 'rp.py'),
      `import json, os
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
from urllib.parse import urlencode
from flask import Flask, redirect, session, url_for
from authlib.integrations.flask_client import OAuth

app = Flask(__name__)
app.secret_key = "for-this-run-alone"
gatehouse = OAuth(app).register(
    "gatehouse",
    client_id=${JSON.stringify(clientId)},
    client_secret=${JSON.stringify(secret)},
    server_metadata_url=${JSON.stringify(`${issuer}/.well-known/openid-configuration`)},
    client_kwargs={"scope": "openid email profile", "code_challenge_method": "S256"},
)

@app.get("/protected/")
def protected():
    if "claims" in session:
        return "<h1>Protected</h1>"
    return gatehouse.authorize_redirect(url_for("callback", _external=True))

@app.get("/callback")
def callback():
    token = gatehouse.authorize_access_token()
    session["claims"] = {"userinfo": gatehouse.userinfo(token=token), "id_token": token["userinfo"]}
    session["hint"] = token["id_token"]
    return redirect("/protected/")

@app.get("/claims")
def claims():
    return json.dumps(session["claims"])

@app.get("/sign-out")
def sign_out():
    hint = session.pop("hint")
    session.clear()
    end = gatehouse.load_server_metadata()["end_session_endpoint"]
    return redirect(end + "?" + urlencode({"id_token_hint": hint, "post_logout_redirect_uri": "http://127.0.0.1:${port}/bye"}))

@app.get("/bye")
def bye():
    return "Bye"

app.run("127.0.0.1", ${port})
`,
    );
    return Bun.spawn([PYTHON, join(folder, 'rp.py')], { stdout: 'ignore', stderr: Bun.file(join(folder, 'log')) });
  },
};

const EMAIL = 'ada@example.com';
let failures = 0;

for (const party of [apache, authlib]) {
  if (!party.isInstalled()) {
    console.log(`${party.name}: not installed, left out`);
    continue;
  }
  try {
    await signInAt(party);
    console.log(`${party.name}: signed in, claims read, signed out`);
  } catch (error) {
    failures += 1;
    console.error(`${party.name}: ${error instanceof Error ? error.stack : String(error)}`);
  }
}
closeBrowser();
process.exit(failures === 0 ? 0 : 1);

async function signInAt(party: RelyingParty): Promise<void> {
  const server = await startEphemeral([], { GATEHOUSE_ALLOW_CIDRS: '127.0.0.0/8' });
  const { path: folder, remove } = emptyFolder();
  const port = freePort();
  const origin = `http://127.0.0.1:${port}`;
  const manage = (method: string, path: string, body?: object) =>
    request(server, method, `/api/applications/${server.applicationId}${path}`, {
      token: server.workspaceKey,
      ...(body && { body }),
    });
  const saved = await manage('PUT', '/openid', {
    redirectUris: [origin + party.redirectPath],
    postLogoutRedirectUris: [`${origin}/bye`],
    backchannelLogoutUri: party.backchannelPath && origin + party.backchannelPath,
  });
  if (saved.status !== 200) throw new Error(`openid answered ${saved.status}: ${saved.text}`);
  const secret: string = (await manage('POST', '/rotate-secret')).json.data.clientSecret;
  const client = { issuer: server.url, clientId: server.clientId, secret, folder, port };
  const running = party.start(client);
  const page = await openBrowserPage({ width: 1000, height: 800 });
  try {
    await eventually('it answers', async () => (await fetch(`${origin}/bye`).catch(() => null))?.ok === true);
    await page.open(`${origin}/protected/`);
    await page.untilAddress(/\/oauth\/authorize/);
    await page.untilReady();
    await page.fill('#email', EMAIL);
    await page.view.press('Enter');
    await page.untilVisible('#code-form');
    await page.untilFocused('code');
    await page.pressKeys(await outboxCode(server, EMAIL));
    await page.untilAddress(/\/protected\//);
    await page.untilText('h1', /Protected/);
    await page.open(origin + party.claimsPath);
    await page.untilText('body', /"email":\s*"ada@example\.com"/);
    await page.untilText('body', /"sub":\s*"usr_/);

    if (party.backchannelPath !== null) {
      // An operator ends the sessions: the relying party hears of it without the browser.
      const { items } = (await manage('GET', '/users?limit=100')).json.data;
      const { userId } = items.find(({ email }: { email: string }) => email === EMAIL);
      await manage('DELETE', `/users/${userId}/sessions`);
      await eventually('it asks for a sign-in again', async () => {
        await page.open(`${origin}/protected/`);
        return (await page.address()).pathname === '/oauth/authorize';
      });
      console.log(`${party.name}: signed out by back channel`);
      return;
    }
    await page.open(origin + party.signOutPath(origin));
    await page.untilText('body', /Bye/);
    await page.open(`${origin}/protected/`);
    await page.untilAddress(/\/oauth\/authorize/);
  } finally {
    page.close();
    running.kill();
    await running.exited;
    await server.stop();
    remove();
  }
}
