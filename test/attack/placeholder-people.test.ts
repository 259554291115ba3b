/** Reservations for an unknown address: the person who proves the address later inherits its ban or invitation. */
import { describe, expect, test } from 'bun:test';
import { changeEmail, later, problemOf } from '../modules/account/account.ts';
import { managing } from '../modules/users/management.ts';
import * as given from '../support/given.ts';
import { createInstance, type Instance } from '../support/instance.ts';

const ADA = 'ada@example.com';
const NEW = 'ada@new.example';

/**
 * A person of another tenant, whose first address the workspace reserved, and who has moved to another address since.
 */
async function setUp() {
  const instance = await createInstance();
  const home = await given.tenant(instance, 'Home');
  const ada = await instance.signIn(home.application.clientId, ADA);
  const application = await instance.createApplication();
  const manage = managing(instance, application);
  await given.reservation(instance, application, ADA);
  later(instance);
  const fresh = await instance.signIn(home.application.clientId, ADA);
  expect((await changeEmail(instance, fresh, NEW)).status).toBe(200);
  return { instance, ada, application, manage };
}

const openSessionsIn = ({ sqlite }: Instance, applicationId: string) =>
  sqlite
    .query(
      'SELECT s.id FROM sessions s JOIN application_users m ON m.id = s.application_user_id WHERE m.application_id = ?',
    )
    .all(applicationId).length;

describe('a reservation for an unknown address', () => {
  test('keeps out a person whom the application has banned by it', async () => {
    const { instance, ada, application, manage } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    const placeholder = await given.reservation(instance, other, NEW);
    expect(placeholder).not.toBe(ada.userId);
    const manageOther = managing(instance, other);
    expect((await manageOther('POST', `/users/${placeholder}/ban`)).status).toBe(200);
    later(instance);
    expect(problemOf(await instance.trySignIn(other.clientId, NEW))).toEqual([403, 'membership_blocked']);
    expect(openSessionsIn(instance, other.id)).toBe(0);
    expect((await manage('GET', '/users')).json.data.items[0].lastSeenAt).toBeNull();
    expect(application.id).not.toBe(other.id);
  });

  test('a console reservation admits a person whom the workspace has invited by it', async () => {
    const { instance, ada } = await setUp();
    const body = { email: NEW, role: 'admin' };
    const invited = await instance.call('POST', '/api/workspace/members', { token: instance.workspaceKey, body });
    expect(invited.json.data.userId).not.toBe(ada.userId);
    later(instance);
    expect((await instance.signIn('console', NEW)).userId).toBe(ada.userId);
  });
});
