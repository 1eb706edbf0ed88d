"use strict";

// Displays the document of this node with Swagger UI. The validator is off, because it would run on
// another host.
window.addEventListener("load", () => {
  window.SwaggerUIBundle({
    url: "/v1/spec.json",
    dom_id: "#interface",
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    validatorUrl: null,
    presets: [window.SwaggerUIBundle.presets.apis],
  });
});
