/** The console's script: what every view stands on; the views come when they are asked for. */
import { render } from 'preact';
import { Shell } from './shell/shell.tsx';

// Whoever is signed in needs no other session: one that a link brings is not kept in the address.
if (/[#&]token=/.test(location.hash)) history.replaceState(null, '', location.pathname + location.search);

const root = document.getElementById('page');
if (!root) throw new Error('this document is not the console');
root.replaceChildren();
render(<Shell />, root);
