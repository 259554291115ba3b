/** Entries of the palette that need no request: views, actions, and the buttons of the record that is open. */
import type { Schemas } from '../api.ts';
import { addresses } from '../address.ts';
import type { ConsoleContext } from '../console-context.tsx';
import type { PaletteEntry } from './palette-entry.ts';
import { APPLICATION_SECTIONS, WORKSPACE_SECTIONS } from './sections.ts';
import { signOut } from './sign-out.ts';
import { chooseTheme } from './theme.ts';

const ACTION = 'Action';

/** A button that opens a menu is left out: the entries of its menu are actions themselves. */
const ACTION_BUTTONS = `#main :is(
    :is(.detail-actions, .page-actions, .detail-part > header, .panel > header, .quarantine) button,
    .detail dd > .button
  ):not(:disabled, [aria-haspopup])`;

/** Returns the enabled buttons of the open record or view, which the palette presses in its place. */
export function openActions(): PaletteEntry[] {
  const buttons = document.querySelectorAll<HTMLButtonElement>(ACTION_BUTTONS);
  return [...buttons].map((button, at) => ({
    id: `open ${at}`,
    // Entries of a closed menu have no `innerText`.
    title: button.getAttribute('aria-label') ?? button.textContent.trim(),
    place: button.closest('.detail') ? textOf('#detail-title') : textOf('#main h1'),
    words: 'action',
    run: () => button.click(),
  }));
}

const textOf = (selector: string) => document.querySelector<HTMLElement>(selector)?.innerText ?? '';

export function knownEntries(
  application: Schemas['Application'] | null,
  { applications, workspace, workspaces }: ConsoleContext,
  canWrite: boolean,
): PaletteEntry[] {
  const at = (section: Parameters<typeof addresses.application>[1]) =>
    addresses.application(application?.id ?? '', section);
  const inApplication: PaletteEntry[] = application
    ? APPLICATION_SECTIONS.flatMap(({ sections }) => sections).map(({ name, title, also }) => ({
        id: `section ${name}`,
        title,
        place: application.name,
        words: also ?? '',
        href: at(name),
      }))
    : [];
  const creations: readonly (readonly [title: string, href: string])[] = !canWrite
    ? []
    : [
        ...(application
          ? ([
              ['Create API key', `${at('keys')}?new=1`],
              ['Add webhook', `${at('webhooks')}?new=1`],
              ['Create role', `${at('roles')}?new=1`],
              ['Create scope', `${at('scopes')}?new=1`],
              ['Create group', `${at('groups')}?new=1`],
              ['Import users', at('import')],
            ] as const)
          : []),
        ['Create application', `${addresses.workspace(workspace.id, 'applications')}?new=1`],
        ['Invite member', `${addresses.workspace(workspace.id, 'members')}?new=1`],
      ];
  return [
    ...inApplication,
    ...applications
      .filter((one) => !one.isHidden)
      .map(({ id, name, stage, slug, clientId }) => ({
        id,
        title: name,
        place: `Application, ${stage}`,
        words: `${id} ${slug} ${clientId}`,
        href: addresses.application(id),
      })),
    ...creations.map(([title, href]) => ({ id: `action ${title}`, title, place: ACTION, href })),
    ...WORKSPACE_SECTIONS.map(({ name, title, also }) => ({
      id: `workspace section ${name}`,
      title,
      place: workspace.name,
      words: also ?? '',
      href: addresses.workspace(workspace.id, name),
    })),
    ...workspaces
      .filter(({ id }) => id !== workspace.id)
      .map(({ id, name }) => ({
        id,
        title: name,
        place: 'Workspace',
        words: id,
        href: addresses.workspace(id, 'applications'),
      })),
    ...OWN,
  ];
}

/** Entries that concern the console itself. */
const OWN: readonly PaletteEntry[] = [
  { id: 'docs', title: 'Documentation', place: 'Guides and API', words: 'docs help', run: () => openPage('/docs') },
  ...(['dark', 'light', 'system'] as const).map((theme) => ({
    id: `theme ${theme}`,
    title: { dark: 'Dark theme', light: 'Light theme', system: 'Theme of the system' }[theme],
    place: ACTION,
    words: 'theme mode colours appearance',
    run: () => chooseTheme(theme),
  })),
  { id: 'account', title: 'Your account', place: 'Page', words: 'profile passkeys', run: () => openPage('/account') },
  { id: 'sign-out', title: 'Sign out', place: ACTION, words: 'log out logout', run: signOut },
];

export function openPage(address: string): void {
  window.open(address, '_blank', 'noopener');
}
