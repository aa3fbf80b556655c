// The API's description, read from this server and tried out against this server; nothing comes from elsewhere.
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  validatorUrl: null,
});
