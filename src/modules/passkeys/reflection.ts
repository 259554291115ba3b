/** Loads what the WebAuthn library's certificate code needs first; a bundle would order a dynamic import after it. */
import 'reflect-metadata';
