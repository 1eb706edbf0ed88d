// The script of the console. Every page works without it, as tables and forms.
"use strict";

/**
 * Sends a change to the node with the page's CSRF token.
 *
 * Resolves to the JSON of the response. Rejects with the message of an error response. Loads the
 * login page if the session has ended.
 */
async function sendChange(method, path, body) {
  const headers = { accept: "application/json" };
  const token = document.querySelector('meta[name="csrf-token"]');
  if (token) headers["x-csrf-token"] = token.content;
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (response.status === 401) {
    location.assign("/login");
    throw new Error("the session has ended");
  }
  const content = await response.json();
  if (!response.ok) throw new Error(content.message);
  return content;
}
