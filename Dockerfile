# entrycache with a JDK and Maven, so that the released jars run too:
#   docker build -t entrycache . && docker run --rm -v "$PWD:/work" entrycache conform --command "/work/my-cache"
FROM python:3.11-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends maven openjdk-21-jdk-headless procps \
    && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN pip install --no-cache-dir "/src[trace,league]" && rm -rf /src
ENV ENTRYCACHE_CACHE=/cache
VOLUME /cache
WORKDIR /work
ENTRYPOINT ["entrycache"]
