/** Entry script of the console; views load on demand. */
import { render } from 'preact';
import type { Opening } from './opening.ts';
import { Shell } from './shell/shell.tsx';
import { showTheme } from './shell/theme.ts';

// The signed-in member needs no other session: a token from a link must not stay in the address.
if (/[#&]token=/.test(location.hash)) history.replaceState(null, '', location.pathname + location.search);

const root = document.getElementById('page');
const opening = document.getElementById('page-data')?.textContent;
if (!root || !opening) throw new Error('this document is not the console');
showTheme();
root.replaceChildren();
render(<Shell opening={JSON.parse(opening) as Opening} />, root);
