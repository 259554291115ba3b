import { readReturn, signInUrl } from 'gatehouse';
import { clientId, url } from '/settings.js';

const returned = readReturn();
if (returned?.token) sessionStorage.setItem('token', returned.token);

document.querySelector('a').href = signInUrl({ url, clientId, returnTo: `${location.origin}/` });

const token = sessionStorage.getItem('token');
const answer = token && (await fetch('/me', { headers: { Authorization: `Bearer ${token}` } }));
document.querySelector('p').textContent = answer?.ok ? await answer.text() : (returned?.error ?? 'nobody');
