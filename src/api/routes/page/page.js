"use strict";

// The document of this node, shown by Swagger UI. No validator: it would be another host's.
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
